// code-colours.js - colours source code in messages, in linear time: no regular expression backtracks.
import { h } from "./dom.js";

const words = (text) => new Set(text.trim().split(/,\s*/));
const C = words(`
    abstract,as,async,await,auto,bool,boolean,break,byte,case,catch,char,class,const,constexpr,continue,
    crate,def,default,defer,delete,do,double,dyn,else,enum,export,extends,false,final,finally,float,fn,
    for,foreach,from,func,function,go,goto,guard,if,impl,implements,import,in,inline,instanceof,int,
    interface,internal,is,let,long,loop,map,match,mod,module,move,mut,namespace,new,nil,null,nullptr,
    number,operator,override,package,private,protected,pub,public,range,readonly,ref,return,select,self,
    short,signed,sizeof,static,string,struct,super,switch,template,this,throw,throws,trait,true,try,type,
    typedef,typeof,undefined,union,unsafe,unsigned,use,using,val,var,virtual,void,volatile,when,where,
    while,with,yield`),
  SCRIPT = words(`
    and,as,assert,async,await,begin,break,case,class,continue,declare,def,del,do,done,elif,else,elsif,
    end,ensure,esac,except,export,false,fi,finally,for,from,function,global,if,import,in,is,lambda,local,
    match,module,next,nil,not,or,pass,raise,readonly,require,rescue,return,self,set,shift,source,super,
    then,true,try,unless,until,when,while,with,yield,None,True,False`),
  SQL = words(`
    add,all,alter,and,as,asc,between,by,case,cascade,check,column,commit,constraint,create,cross,
    database,default,delete,desc,distinct,drop,else,end,exists,foreign,from,full,group,having,if,in,
    index,inner,insert,into,is,join,key,left,like,limit,not,null,offset,on,or,order,outer,primary,
    references,returning,right,rollback,select,set,table,then,union,unique,update,using,values,view,when,
    where,with`);

const STRING = /"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?/,
  NUMBER = /\b(?:0x[\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/,
  WORD = /[\p{L}_$][\p{L}\p{N}_$]*/u;
const family = (comment, keywords, strings = STRING) => ({
  keywords,
  re: new RegExp(`(${comment.source})|(${strings.source})|(${NUMBER.source})|(${WORD.source})`, "giu"),
});
const c = family(/\/\/.*|\/\*[^]*?(?:\*\/|$)/, C, new RegExp(`${STRING.source}|\`(?:\\\\[^]|[^\`\\\\])*\`?`)),
  script = family(/#.*/, SCRIPT, new RegExp(`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${STRING.source}`)),
  sql = family(/--.*|\/\*[^]*?(?:\*\/|$)/, SQL),
  lua = family(/--.*/, SCRIPT),
  markup = family(/<!--[^]*?(?:-->|$)/, words(""), /"[^"]*"?|<\/?[a-z][\w:-]*|\/?>/);
const LANGUAGES = new Map(
  Object.entries({
    "c h cc cpp c++ cs csharp css dart go groovy java javascript js json json5 jsonc jsx kotlin kt less": c,
    "mjs php rs rust scala scss swift ts tsx typescript zig": c,
    "bash dockerfile fish ini makefile perl pl ps1 py python rb ruby sh shell toml yaml yml zsh": script,
    "mysql pgsql sql sqlite": sql,
    lua,
    "htm html svg xhtml xml": markup,
  }).flatMap(([names, one]) => names.split(" ").map((name) => [name, one])),
);
const KINDS = ["comment", "string", "number"];

/**
 * Returns source code as coloured DOM nodes. If the language is unknown, returns the text without colours.
 * @param {string} text @param {string} language
 */
export function colourCode(text, language) {
  if (language === "diff") return text.split(/(?<=\n)/).map(diffLine);
  const known = LANGUAGES.get(language.toLowerCase());
  if (!known) return text;
  const out = [];
  let at = 0;
  for (const m of text.matchAll(known.re)) {
    const kind =
      m[4] !== undefined
        ? known.keywords.has(known === sql ? m[4].toLowerCase() : m[4])
          ? "keyword"
          : ""
        : KINDS[[m[1], m[2], m[3]].findIndex((x) => x !== undefined)];
    if (!kind) continue;
    out.push(text.slice(at, m.index), h(`span.code-${kind}`, null, m[0]));
    at = m.index + m[0].length;
  }
  return [...out, text.slice(at)];
}

const diffLine = (line) =>
  line[0] === "+" ? h("span.code-string", null, line) : line[0] === "-" ? h("span.code-removed", null, line) : line;
