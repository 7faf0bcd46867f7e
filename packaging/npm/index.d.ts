/* index.d.ts - the types of index.js. */

export interface World {
  users?: object[];
  applications?: object[];
  guilds?: object[];
  [part: string]: unknown;
}

export interface StartOptions {
  /** A world, or the path of a world file. */
  world: World | string;
  /** The program; else GUILDHALL_BINARY of the environment, else `guildhall` in the path. */
  binary?: string;
  /** Further options of `guildhall serve`. */
  flags?: string[];
}

export interface Message {
  id: string;
  channel_id: string;
  content: string;
  author: { id: string; username: string; [field: string]: unknown };
  embeds: object[];
  components?: object[];
  [field: string]: unknown;
}

export interface Answer {
  step: string;
  outcome: string;
  /** What the app said. */
  content?: string;
  embeds: object[];
  message?: Message;
  follow_ups?: Message[];
  /** Everything that happened, in order. */
  steps: object[];
}

export interface InvokeOptions {
  /** Then press a button of the answer, or choose from a menu: 'yes', 'colour=red,blue'. */
  press?: string;
  /** Fill in the form that comes: 'field:value field:value'. */
  fill?: string;
  /** Wait for so many messages after the answer. */
  followUps?: number;
  /** Whom a user command is about. */
  user?: string;
  /** What a message command is about. */
  message?: string;
  /** Whose command, where several apps have it. */
  app?: string;
  /** Seconds for an app that has asked for more time. */
  wait?: number;
}

export interface Person {
  readonly name: string;
  readonly channel: string;
  slash(line: string, options?: InvokeOptions): Promise<Answer>;
  press(message: Message | string, part: string, options?: InvokeOptions): Promise<Answer>;
  complete(line: string): Promise<object[]>;
  say(content: string | object): Promise<Message>;
  react(message: Message | string, emoji: string): Promise<void>;
  messages(limit?: number): Promise<Message[]>;
  waitForMessage(
    wanted: string | RegExp | ((message: Message) => boolean),
    options?: { after?: Message | string; timeout?: number },
  ): Promise<Message>;
  channelId(): Promise<string>;
  call(method: string, path: string, body?: unknown): Promise<any>;
}

export interface Guildhall {
  readonly binary: string;
  readonly url: string;
  /** What libraries call the base of the interface. */
  readonly api: string;
  readonly data: string;
  readonly log: string;
  token(name: string): string;
  asUser(name: string, options?: { channel?: string }): Person;
  command(...words: string[]): Promise<{ status: number; stdout: string; stderr: string }>;
  clock(step: string): Promise<unknown>;
  fault(route: string, options?: { status?: number; times?: number; delay?: string }): Promise<unknown>;
  stop(): Promise<void>;
}

export class GuildhallError extends Error {
  status?: number;
  [detail: string]: unknown;
}

export function startGuildhall(options: StartOptions): Promise<Guildhall>;
export function eventually<T>(
  ask: () => T | Promise<T>,
  options?: { timeout?: number; every?: number },
): Promise<NonNullable<T>>;
