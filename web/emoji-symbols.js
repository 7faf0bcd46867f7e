// emoji-symbols.js - symbols and flags as "emoji~name,name" (from emojibase-data 17, MIT licence, Miles Johnson).
export const SYMBOLS = `
🏧~atm,automated,bank 🚮~put_litter_in_its_place,bin 🚰~potable_water,drinking
♿️~wheelchair,access 🚹️~mens,mens_room,bathroom 🚺️~womens,womens_room,bathroom
🚻~restroom,bathroom 🚼️~baby_symbol,changing 🚾~wc,water_closet,bathroom 🛂~passport_control
🛃~customs,packing 🛄~baggage_claim,arrived 🛅~left_luggage,baggage ⚠️~warning,caution
🚸~children_crossing,pedestrian,traffic ⛔️~no_entry,fail,forbidden 🚫~no_entry_sign,prohibited,forbidden
🚳~no_bicycles,bike,forbidden 🚭️~no_smoking,forbidden,not 🚯~do_not_litter,no_littering,forbidden
🚱~non-potable_water,dry,prohibited 🚷~no_pedestrians,forbidden,not 📵~no_mobile_phones,cell,forbidden
🔞~underage,eighteen,forbidden ☢️~radioactive,radioactive_sign ☣️~biohazard,biohazard_sign
⬆️~arrow_up,up_arrow,cardinal ↗️~arrow_upper_right,direction
➡️~arrow_right,right_arrow,cardinal ↘️~arrow_lower_right,direction
⬇️~arrow_down,down_arrow,cardinal ↙️~arrow_lower_left,direction
⬅️~arrow_left,left_arrow,cardinal ↖️~arrow_upper_left,up_left_arrow,direction
↕️~arrow_up_down,up_down_arrow ↔️~left_right_arrow ↩️~leftwards_arrow_with_hook,curving,right
↪️~arrow_right_hook,curving,left ⤴️~arrow_heading_up,curving,right ⤵️~arrow_heading_down,curving,right
🔃~arrows_clockwise,refresh 🔄~arrows_counterclockwise,again,button 🔙~back,back_arrow 🔚~end,end_arrow
🔛~on,on_arrow,mark 🔜~soon,soon_arrow,brb 🔝~top,top_arrow
🛐~place_of_worship,worship_symbol,pray ⚛️~atom,atom_symbol 🕉️~om_symbol,hindu,religion
✡️~star_of_david,jew,jewish ☸️~wheel_of_dharma,buddhist,religion ☯️~yin_yang,difficult
✝️~cross,latin_cross,christ ☦️~orthodox_cross,christian,religion ☪️~star_and_crescent,islam,muslim
☮️~peace,peace_symbol 🕎~menorah,candelabrum,candlestick 🔯~six_pointed_star,dotted,fortune
♈️~aries,horoscope ♉️~taurus,bull,horoscope ♊️~gemini,horoscope,twins ♋️~cancer,crab,horoscope
♌️~leo,horoscope,lion ♍️~virgo,horoscope,zodiac ♎️~libra,balance,horoscope
♏️~scorpius,scorpio,horoscope ♐️~sagittarius,archer,horoscope ♑️~capricorn,goat,horoscope
♒️~aquarius,bearer,horoscope ♓️~pisces,fish,horoscope ⛎️~ophiuchus,bearer
🔀~twisted_rightwards_arrows,button 🔁~repeat,arrow,button 🔂~repeat_one,arrow,button
▶️~arrow_forward,button ⏩️~fast_forward,arrow,button ⏭️~track_next,next_track,arrow
⏯️~play_pause,arrow,button ◀️~arrow_backward,button,left ⏪️~rewind,arrow,button
⏮️~track_previous,previous_track,arrow 🔼~arrow_up_small,button ⏫️~arrow_double_up,button,fast
🔽~arrow_down_small,button ⏬️~arrow_double_down,button,fast ⏸️~pause_button,double_vertical_bar
⏹️~stop_button,square ⏺️~record_button,circle ⏏️~eject,eject_symbol,button 🎦~cinema,camera,film
🔅~low_brightness,button 🔆~high_brightness,button,light 📶~signal_strength,antenna_bars
📳~vibration_mode,cell,mobile 📴~mobile_phone_off,cell,telephone ♀️~female_sign,woman ♂️~male_sign,man
⚧️~transgender_symbol ✖️~heavy_multiplication_x,cancel ➕️~heavy_plus_sign ➖️~heavy_minus_sign,math
➗️~heavy_division_sign,math 🟰~heavy_equals_sign,answer ♾️~infinity,forever
‼️~bangbang,double,exclamation ⁉️~interrobang,exclamation,mark ❓️~question,question_mark,punctuation
❔️~grey_question,mark,outlined ❕️~grey_exclamation,mark,outlined ❗️~exclamation,mark,punctuation
〰️~wavy_dash,punctuation 💱~currency_exchange,bank,money 💲~heavy_dollar_sign,billion,cash
⚕️~medical_symbol,aesculapius,medicine ♻️~recycle,recycling,symbol ⚜️~fleur-de-lis,fleur_de_lis
🔱~trident,anchor 📛~name_badge 🔰~beginner,chevron,green ⭕️~o,circle,heavy
✅️~white_check_mark,button,checked ☑️~ballot_box_with_check,checked,done
✔️~heavy_check_mark,check_mark,checked ❌️~x,cross_mark,cancel
❎️~negative_squared_cross_mark,button,multiply ➰️~curly_loop ➿️~loop,curl 〽️~part_alternation_mark
✳️~eight_spoked_asterisk ✴️~eight_pointed_black_star ❇️~sparkle ©️~copyright ®️~registered
™️~tm,trade_mark
#️⃣~hash,keycap
*️⃣~asterisk,keycap_asterisk
0️⃣~zero,keycap
1️⃣~one,keycap
2️⃣~two,keycap
3️⃣~three,keycap
4️⃣~four,keycap
5️⃣~five,keycap
6️⃣~six,keycap
7️⃣~seven,keycap
8️⃣~eight,keycap
9️⃣~nine,keycap 🔟~keycap_ten 🔠~capital_abcd,input,latin 🔡~abcd,input,latin 🔢~1234,input_numbers
🔣~symbols,input_symbols 🔤~abc,alphabet 🅰️~a,blood,button 🆎~ab,blood,button 🅱️~b,blood,button 🆑~cl,button
🆒~cool,button 🆓~free,button ℹ️~information_source,information 🆔~id,button,identity Ⓜ️~m,circled_m 🆕~new,button
🆖~ng,button 🅾️~o2,blood,button 🆗~ok,button,okay 🅿️~parking,button 🆘~sos,button,help 🆙~up,button,mark
🆚~vs,button 🈁~koko,button,here 🈂️~sa,button,charge 🈷️~u6708,amount,button 🈶~u6709,button,charge
🈯️~u6307,button 🉐~ideograph_advantage,bargain,button 🈹~u5272,button 🈚️~u7121,button,charge
🈲~u7981,button 🉑~accept,acceptable,button 🈸~u7533,application,button 🈴~u5408,button
🈳~u7a7a,button ㊗️~congratulations,button ㊙️~secret,button 🈺~u55b6,business,button
🈵~u6e80,button 🔴~red_circle,geometric 🟠~orange_circle 🟡~yellow_circle 🟢~green_circle
🔵~blue_circle,geometric 🟣~purple_circle 🟤~brown_circle ⚫️~black_circle,geometric ⚪️~white_circle,geometric
🟥~red_square,card,penalty 🟧~orange_square 🟨~yellow_square,card,penalty 🟩~green_square 🟦~blue_square
🟪~purple_square 🟫~brown_square ⬛️~black_large_square,geometric ⬜️~white_large_square,geometric
◼️~black_medium_square,geometric ◻️~white_medium_square,geometric ◾️~black_medium_small_square,geometric
◽️~white_medium_small_square,geometric ▪️~black_small_square,geometric ▫️~white_small_square,geometric
🔶~large_orange_diamond,geometric 🔷~large_blue_diamond,geometric 🔸~small_orange_diamond,geometric
🔹~small_blue_diamond,geometric 🔺~small_red_triangle,geometric,pointed
🔻~small_red_triangle_down,geometric,pointed 💠~diamond_shape_with_a_dot_inside,comic
🔘~radio_button,geometric 🔳~white_square_button,geometric,outlined 🔲~black_square_button,geometric
`;
export const FLAGS = `
🏁~checkered_flag 🚩~triangular_flag_on_post 🎌~crossed_flags 🏴~flag_black,waving_black_flag
🏳️~flag_white,waving_white_flag 🏳️‍🌈~rainbow_flag,gay_pride_flag 🏳️‍⚧️~transgender_flag 🏴‍☠️~pirate_flag
🇦🇨~flag_ac,ac 🇦🇩~flag_ad,ad 🇦🇪~flag_ae,ae 🇦🇫~flag_af,af 🇦🇬~flag_ag,ag 🇦🇮~flag_ai,ai 🇦🇱~flag_al,al
🇦🇲~flag_am,am 🇦🇴~flag_ao,ao 🇦🇶~flag_aq,aq 🇦🇷~flag_ar,ar 🇦🇸~flag_as,as 🇦🇹~flag_at,at 🇦🇺~flag_au,au
🇦🇼~flag_aw,aw 🇦🇽~flag_ax,ax 🇦🇿~flag_az,az 🇧🇦~flag_ba,ba 🇧🇧~flag_bb,bb 🇧🇩~flag_bd,bd 🇧🇪~flag_be,be
🇧🇫~flag_bf,bf 🇧🇬~flag_bg,bg 🇧🇭~flag_bh,bh 🇧🇮~flag_bi,bi 🇧🇯~flag_bj,bj 🇧🇱~flag_bl,bl 🇧🇲~flag_bm,bm
🇧🇳~flag_bn,bn 🇧🇴~flag_bo,bo 🇧🇶~flag_bq,bq 🇧🇷~flag_br,br 🇧🇸~flag_bs,bs 🇧🇹~flag_bt,bt 🇧🇻~flag_bv,bv
🇧🇼~flag_bw,bw 🇧🇾~flag_by,by 🇧🇿~flag_bz,bz 🇨🇦~flag_ca,ca 🇨🇨~flag_cc,cc 🇨🇩~flag_cd,congo 🇨🇫~flag_cf,cf
🇨🇬~flag_cg,cg 🇨🇭~flag_ch,ch 🇨🇮~flag_ci,ci 🇨🇰~flag_ck,ck 🇨🇱~flag_cl,chile 🇨🇲~flag_cm,cm 🇨🇳~flag_cn,cn
🇨🇴~flag_co,co 🇨🇵~flag_cp,cp 🇨🇷~flag_cr,cr 🇨🇺~flag_cu,cu 🇨🇻~flag_cv,cv 🇨🇼~flag_cw,cw 🇨🇽~flag_cx,cx
🇨🇾~flag_cy,cy 🇨🇿~flag_cz,cz 🇩🇪~flag_de,de 🇩🇬~flag_dg,dg 🇩🇯~flag_dj,dj 🇩🇰~flag_dk,dk 🇩🇲~flag_dm,dm
🇩🇴~flag_do,do 🇩🇿~flag_dz,dz 🇪🇦~flag_ea,ea 🇪🇨~flag_ec,ec 🇪🇪~flag_ee,ee 🇪🇬~flag_eg,eg 🇪🇭~flag_eh,eh
🇪🇷~flag_er,er 🇪🇸~flag_es,es 🇪🇹~flag_et,et 🇪🇺~flag_eu,eu 🇫🇮~flag_fi,fi 🇫🇯~flag_fj,fj 🇫🇰~flag_fk,fk
🇫🇲~flag_fm,fm 🇫🇴~flag_fo,fo 🇫🇷~flag_fr,fr 🇬🇦~flag_ga,ga 🇬🇧~flag_gb,gb 🇬🇩~flag_gd,gd 🇬🇪~flag_ge,ge
🇬🇫~flag_gf,gf 🇬🇬~flag_gg,gg 🇬🇭~flag_gh,gh 🇬🇮~flag_gi,gi 🇬🇱~flag_gl,gl 🇬🇲~flag_gm,gm 🇬🇳~flag_gn,gn
🇬🇵~flag_gp,gp 🇬🇶~flag_gq,gq 🇬🇷~flag_gr,gr 🇬🇸~flag_gs,gs 🇬🇹~flag_gt,gt 🇬🇺~flag_gu,gu 🇬🇼~flag_gw,gw
🇬🇾~flag_gy,gy 🇭🇰~flag_hk,hk 🇭🇲~flag_hm,hm 🇭🇳~flag_hn,hn 🇭🇷~flag_hr,hr 🇭🇹~flag_ht,ht 🇭🇺~flag_hu,hu
🇮🇨~flag_ic,ic 🇮🇩~flag_id,indonesia 🇮🇪~flag_ie,ie 🇮🇱~flag_il,il 🇮🇲~flag_im,im 🇮🇳~flag_in,in 🇮🇴~flag_io,io
🇮🇶~flag_iq,iq 🇮🇷~flag_ir,ir 🇮🇸~flag_is,is 🇮🇹~flag_it,it 🇯🇪~flag_je,je 🇯🇲~flag_jm,jm 🇯🇴~flag_jo,jo
🇯🇵~flag_jp,jp 🇰🇪~flag_ke,ke 🇰🇬~flag_kg,kg 🇰🇭~flag_kh,kh 🇰🇮~flag_ki,ki 🇰🇲~flag_km,km 🇰🇳~flag_kn,kn
🇰🇵~flag_kp,kp 🇰🇷~flag_kr,kr 🇰🇼~flag_kw,kw 🇰🇾~flag_ky,ky 🇰🇿~flag_kz,kz 🇱🇦~flag_la,la 🇱🇧~flag_lb,lb
🇱🇨~flag_lc,lc 🇱🇮~flag_li,li 🇱🇰~flag_lk,lk 🇱🇷~flag_lr,lr 🇱🇸~flag_ls,ls 🇱🇹~flag_lt,lt 🇱🇺~flag_lu,lu
🇱🇻~flag_lv,lv 🇱🇾~flag_ly,ly 🇲🇦~flag_ma,ma 🇲🇨~flag_mc,mc 🇲🇩~flag_md,md 🇲🇪~flag_me,me 🇲🇫~flag_mf,mf
🇲🇬~flag_mg,mg 🇲🇭~flag_mh,mh 🇲🇰~flag_mk,mk 🇲🇱~flag_ml,ml 🇲🇲~flag_mm,mm 🇲🇳~flag_mn,mn 🇲🇴~flag_mo,mo
🇲🇵~flag_mp,mp 🇲🇶~flag_mq,mq 🇲🇷~flag_mr,mr 🇲🇸~flag_ms,ms 🇲🇹~flag_mt,mt 🇲🇺~flag_mu,mu 🇲🇻~flag_mv,mv
🇲🇼~flag_mw,mw 🇲🇽~flag_mx,mx 🇲🇾~flag_my,my 🇲🇿~flag_mz,mz 🇳🇦~flag_na,na 🇳🇨~flag_nc,nc 🇳🇪~flag_ne,ne
🇳🇫~flag_nf,nf 🇳🇬~flag_ng,nigeria 🇳🇮~flag_ni,ni 🇳🇱~flag_nl,nl 🇳🇴~flag_no,no 🇳🇵~flag_np,np 🇳🇷~flag_nr,nr
🇳🇺~flag_nu,nu 🇳🇿~flag_nz,nz 🇴🇲~flag_om,om 🇵🇦~flag_pa,pa 🇵🇪~flag_pe,pe 🇵🇫~flag_pf,pf 🇵🇬~flag_pg,pg
🇵🇭~flag_ph,ph 🇵🇰~flag_pk,pk 🇵🇱~flag_pl,pl 🇵🇲~flag_pm,pm 🇵🇳~flag_pn,pn 🇵🇷~flag_pr,pr 🇵🇸~flag_ps,ps
🇵🇹~flag_pt,pt 🇵🇼~flag_pw,pw 🇵🇾~flag_py,py 🇶🇦~flag_qa,qa 🇷🇪~flag_re,re 🇷🇴~flag_ro,ro 🇷🇸~flag_rs,rs
🇷🇺~flag_ru,ru 🇷🇼~flag_rw,rw 🇸🇦~flag_sa,saudiarabia 🇸🇧~flag_sb,sb 🇸🇨~flag_sc,sc 🇸🇩~flag_sd,sd 🇸🇪~flag_se,se
🇸🇬~flag_sg,sg 🇸🇭~flag_sh,sh 🇸🇮~flag_si,si 🇸🇯~flag_sj,sj 🇸🇰~flag_sk,sk 🇸🇱~flag_sl,sl 🇸🇲~flag_sm,sm
🇸🇳~flag_sn,sn 🇸🇴~flag_so,so 🇸🇷~flag_sr,sr 🇸🇸~flag_ss,ss 🇸🇹~flag_st,st 🇸🇻~flag_sv,sv 🇸🇽~flag_sx,sx
🇸🇾~flag_sy,sy 🇸🇿~flag_sz,sz 🇹🇦~flag_ta,ta 🇹🇨~flag_tc,tc 🇹🇩~flag_td,td 🇹🇫~flag_tf,tf 🇹🇬~flag_tg,tg
🇹🇭~flag_th,th 🇹🇯~flag_tj,tj 🇹🇰~flag_tk,tk 🇹🇱~flag_tl,tl 🇹🇲~flag_tm,turkmenistan 🇹🇳~flag_tn,tn 🇹🇴~flag_to,to
🇹🇷~flag_tr,tr 🇹🇹~flag_tt,tt 🇹🇻~flag_tv,tuvalu 🇹🇼~flag_tw,tw 🇹🇿~flag_tz,tz 🇺🇦~flag_ua,ua 🇺🇬~flag_ug,ug
🇺🇲~flag_um,um 🇺🇳~united_nations 🇺🇸~flag_us,us 🇺🇾~flag_uy,uy 🇺🇿~flag_uz,uz 🇻🇦~flag_va,va 🇻🇨~flag_vc,vc
🇻🇪~flag_ve,ve 🇻🇬~flag_vg,vg 🇻🇮~flag_vi,vi 🇻🇳~flag_vn,vn 🇻🇺~flag_vu,vu 🇼🇫~flag_wf,wf 🇼🇸~flag_ws,ws
🇽🇰~flag_xk,xk 🇾🇪~flag_ye,ye 🇾🇹~flag_yt,yt 🇿🇦~flag_za,za 🇿🇲~flag_zm,zm 🇿🇼~flag_zw,zw 🏴󠁧󠁢󠁥󠁮󠁧󠁿~england
🏴󠁧󠁢󠁳󠁣󠁴󠁿~scotland 🏴󠁧󠁢󠁷󠁬󠁳󠁿~wales
`;
