// emoji-people.js - faces and people as "emoji~name,name"; * means skin tones (emojibase-data 17, MIT, Miles Johnson).
export const SMILEYS = `
😀~grinning,grinning_face,cheerful 😃~smiley,awesome,big 😄~smile,eye 😁~grin,beaming,eye
😆~laughing,satisfied,closed 😅~sweat_smile,cold 🤣~rofl,rolling_on_the_floor_laughing,crying
😂~joy,crying,face 🙂~slight_smile,slightly_smiling_face,happy 🙃~upside_down,upside_down_face
🫠~melting_face,disappear 😉~wink,winking_face,flirt 😊~blush,eye
😇~innocent,angel,angelic 🥰~smiling_face_with_3_hearts,adore 😍~heart_eyes,bae,face
🤩~star_struck,excited,eyes 😘~kissing_heart,adorbs 😗~kissing,kissing_face,date
☺️~relaxed,smiling_face,happy 😚~kissing_closed_eyes,bae,blush 😙~kissing_smiling_eyes,closed,date
🥲~smiling_face_with_tear,glad,grateful 😋~yum,delicious,eat 😛~stuck_out_tongue,awesome,cool
😜~stuck_out_tongue_winking_eye,crazy,epic 🤪~zany_face,crazy,eye 😝~stuck_out_tongue_closed_eyes,face,gross
🤑~money_mouth,money_mouth_face 🤗~hugging,hugging_face,hands
🤭~face_with_hand_over_mouth,giggle,giggling 🫢~face_with_open_eyes_and_hand_over_mouth,amazement
🫣~face_with_peeking_eye,captivated 🤫~shushing_face,quiet,shh 🤔~thinking,thinking_face,chin
🫡~saluting_face,good,luck 🤐~zipper_mouth,zipper_mouth_face
🤨~face_with_raised_eyebrow,disapproval,disbelief 😐️~neutral_face,awkward,blank 😑~expressionless,awkward
😶~no_mouth,awkward,blank 🫥~dotted_line_face,depressed 😶‍🌫️~face_in_clouds,absentminded,fog
😏~smirk,smirking_face 😒~unamused,unamused_face,bored
🙄~rolling_eyes,face_with_rolling_eyes,eyeroll 😬~grimacing,awk 😮‍💨~face_exhaling,blow,blowing
🤥~lying_face,liar 😌~relieved,relieved_face 😔~pensive,pensive_face,awful
😪~sleepy,sleepy_face,crying 🤤~drooling_face,drool 😴~sleeping,sleeping_face 😷~mask,cold,dentist
🤒~thermometer_face,face_with_thermometer,ill 🤕~head_bandage,face_with_head_bandage,hurt
🤢~nauseated_face,sick,gross 🤮~face_vomiting,barf,gross 🤧~sneezing_face,sneeze,fever
🥵~hot_face,dying 🥶~cold_face,blue,freezing 🥴~woozy_face,dizzy,drunk 😵~dizzy_face,dead,eyes
😵‍💫~face_with_spiral_eyes,confused,dizzy 🤯~exploding_head,blown,explode 🤠~cowboy,face_with_cowboy_hat,cowgirl
🥳~partying_face,bday,birthday 🥸~disguised_face,eyebrow,glasses 😎~sunglasses,awesome
🤓~nerd,nerd_face 🧐~face_with_monocle,classy 😕~confused,confused_face
🫤~face_with_diagonal_mouth,confused,confusion 😟~worried,worried_face,anxious
🙁~slight_frown,slightly_frowning_face,sad ☹️~frowning2,white_frowning_face,sad 😮~open_mouth,believe,face
😯~hushed,hushed_face,epic 😲~astonished,cost,face 😳~flushed,flushed_face,amazed
🥺~pleading_face,begging,big 🥹~face_holding_back_tears,admiration 😦~frowning,caught,face
😧~anguished,face 😨~fearful,fearful_face,afraid 😰~cold_sweat,anxious,blue
😥~disappointed_relieved,anxious,call 😢~cry,crying_face,awful 😭~sob,bawling,cry 😱~scream,epic,face
😖~confounded,annoyed,confused 😣~persevere,concentrate,face 😞~disappointed,awful 😓~sweat,close,cold
😩~weary,weary_face,crying 😫~tired_face,cost,feels 🥱~yawning_face,bedtime,bored 😤~triumph,anger,angry
😡~rage,pouting_face,anger 😠~angry,angry_face,anger 🤬~face_with_symbols_over_mouth,censor,cursing
😈~smiling_imp,demon,devil 👿~imp,angry,demon 💀~skull,skeleton
☠️~skull_crossbones,skull_and_crossbones 💩~poop,shit 🤡~clown,clown_face
👹~japanese_ogre,ogre,creature 👺~japanese_goblin,goblin,angry 👻~ghost,boo,creature
👽️~alien,creature,face 👾~space_invader,alien_monster,creature 🤖~robot,robot_face
😺~smiley_cat,grinning_cat,animal 😸~smile_cat,animal,eye 😹~joy_cat,animal,face 😻~heart_eyes_cat,animal,face
😼~smirk_cat,animal,face 😽~kissing_cat,animal,closed 🙀~scream_cat,weary_cat,animal
😿~crying_cat_face,crying_cat,animal 😾~pouting_cat,animal,face 🙈~see_no_evil,embarrassed,face
🙉~hear_no_evil,animal,ears 🙊~speak_no_evil,animal,face 💌~love_letter,heart,mail 💘~cupid,adorbs,arrow
💝~gift_heart,anniversary,emotion 💖~sparkling_heart,emotion,excited 💗~heartpulse,growing_heart,emotion
💓~heartbeat,beating_heart 💞~revolving_hearts,adorbs,anniversary 💕~two_hearts,anniversary,date
💟~heart_decoration,emotion ❣️~heart_exclamation,heavy_heart_exclamation_mark_ornament,punctuation
💔~broken_heart,break ❤️‍🔥~heart_on_fire,burn,love ❤️‍🩹~mending_heart,healthier
❤️~heart,red_heart,emotion 🧡~orange_heart 💛~yellow_heart,cardiac,emotion 💚~green_heart,emotion,ily
💙~blue_heart,emotion,ily 💜~purple_heart,bestest,emotion 🤎~brown_heart 🖤~black_heart,evil 🤍~white_heart
💋~kiss,kiss_mark,dating 💯~100,agree 💢~anger,angry 💥~boom,collision,bomb
💫~dizzy,comic,shining 💦~sweat_drops,comic 💨~dash,dashing_away,cloud 🕳️~hole
💬~speech_balloon,bubble 👁️‍🗨️~eye_in_speech_bubble,balloon
🗨️~speech_left,left_speech_bubble,balloon 🗯️~anger_right,right_anger_bubble,angry
💭~thought_balloon,bubble,cartoon 💤~zzz,comic,good
`;
export const PEOPLE = `
👋*~wave,waving_hand,bye 🤚*~raised_back_of_hand,back_of_hand
🖐️*~hand_splayed,raised_hand_with_fingers_splayed,stop ✋️*~raised_hand,five
🖖*~vulcan,raised_hand_with_part_between_middle_and_ring_fingers,hands 🫱*~rightwards_hand,handshake,hold
🫲*~leftwards_hand,handshake,hold 🫳*~palm_down_hand,dismiss,drop 🫴*~palm_up_hand,beckon,catch
👌*~ok_hand,awesome 🤌*~pinched_fingers,gesture,hand 🤏*~pinching_hand,amount ✌️*~v,victory_hand,peace
🤞*~fingers_crossed,hand_with_index_and_middle_finger_crossed,luck
🫰*~hand_with_index_finger_and_thumb_crossed,expensive,heart 🤟*~love_you_gesture,fingers,hand
🤘*~metal,sign_of_the_horns,finger 🤙*~call_me,call_me_hand 👈️*~point_left,backhand,finger
👉️*~point_right,backhand,finger 👆️*~point_up_2,backhand,finger
🖕*~middle_finger,reversed_hand_with_middle_finger_extended 👇️*~point_down,backhand,finger
☝️*~point_up,finger,hand 🫵*~index_pointing_at_the_viewer,finger,hand 👍️*~thumbsup,+1,good
👎️*~thumbsdown,-1 ✊️*~fist,raised_fist 👊*~punch,oncoming_fist
🤛*~left_facing_fist,left_fist 🤜*~right_facing_fist,right_fist 👏*~clap,applause
🙌*~raised_hands,raising_hands,celebration 🫶*~heart_hands,love,you 👐*~open_hands,hug
🤲*~palms_up_together,cupped 🤝~handshake,shaking_hands,agreement 🙏*~pray,folded_hands
✍️*~writing_hand,write 💅*~nail_care,nail_polish,bored 🤳*~selfie,camera,phone
💪*~muscle,flexed_biceps,arm 🦾~mechanical_arm,prosthetic 🦿~mechanical_leg,prosthetic 🦵*~leg,bent,foot
🦶*~foot,ankle,feet 👂️*~ear,body 🦻*~ear_with_hearing_aid,hard 👃*~nose,body 🧠~brain,intelligent,smart
🫀~anatomical_heart,beat,cardiology 🫁~lungs,breath,breathe 🦷~tooth,dentist 🦴~bone,bones,dog
👀~eyes,body,face 👁️~eye,body 👅~tongue,body 👄~lips,mouth,beauty 🫦~biting_lip,anxious,bite
👶*~baby,babies,children 🧒*~child,grandchild,kid 👦*~boy,child 👧*~girl,child,daughter 🧑*~adult,person
👱*~blond_haired_person,person_with_blond_hair 👨*~man,adult,bro 🧔*~bearded_person,person_beard,whiskers
🧔‍♂️*~man_beard,bearded,whiskers 🧔‍♀️*~woman_beard,bearded,whiskers 👨‍🦰*~man_red_haired,man_red_hair,adult
👨‍🦱*~man_curly_haired,adult,bro 👨‍🦳*~man_white_haired,adult,bro 👨‍🦲*~man_bald,adult,bro 👩*~woman,adult,lady
👩‍🦰*~woman_red_haired,adult,lady 🧑‍🦰*~person_red_hair,adult 👩‍🦱*~woman_curly_haired,adult,lady
🧑‍🦱*~person_curly_hair,adult 👩‍🦳*~woman_white_haired,adult,lady 🧑‍🦳*~person_white_hair,adult
👩‍🦲*~woman_bald,adult,lady 🧑‍🦲*~person_bald,adult 👱‍♀️*~blond-haired_woman,blonde 👱‍♂️*~blond-haired_man
🧓*~older_adult,older_person,elderly 👴*~older_man,old_man,adult
👵*~older_woman,grandma,adult 🙍*~person_frowning,annoyed,disappointed
🙍‍♂️*~man_frowning,annoyed,disappointed 🙍‍♀️*~woman_frowning,annoyed,disappointed
🙎*~person_pouting,person_with_pouting_face,disappointed 🙎‍♂️*~man_pouting,disappointed,downtrodden
🙎‍♀️*~woman_pouting,disappointed,downtrodden 🙅*~person_gesturing_no,no_good,forbidden
🙅‍♂️*~man_gesturing_no,forbidden,gesture 🙅‍♀️*~woman_gesturing_no,forbidden,gesture
🙆*~person_gesturing_ok,ok_woman 🙆‍♂️*~man_gesturing_ok,exercise,gesture
🙆‍♀️*~woman_gesturing_ok,exercise,gesture 💁*~person_tipping_hand,information_desk_person
💁‍♂️*~man_tipping_hand,fetch,flick 💁‍♀️*~woman_tipping_hand,fetch,flick
🙋*~person_raising_hand,raising_hand,gesture 🙋‍♂️*~man_raising_hand,gesture,here
🙋‍♀️*~woman_raising_hand,gesture,here 🧏*~deaf_person,ear,gesture 🧏‍♂️*~deaf_man,ear,gesture
🧏‍♀️*~deaf_woman,ear,gesture 🙇*~person_bowing,bow,apology 🙇‍♂️*~man_bowing,apology,ask
🙇‍♀️*~woman_bowing,apology,ask 🤦*~person_facepalming,face_palm
🤦‍♂️*~man_facepalming,again,bewilder 🤦‍♀️*~woman_facepalming,again,bewilder
🤷*~person_shrugging,shrug,doubt 🤷‍♂️*~man_shrugging,doubt,dunno 🤷‍♀️*~woman_shrugging,doubt,dunno
🧑‍⚕️*~health_worker,doctor,healthcare 👨‍⚕️*~man_health_worker,doctor,healthcare
👩‍⚕️*~woman_health_worker,doctor,healthcare 🧑‍🎓*~student,graduate 👨‍🎓*~man_student,graduate
👩‍🎓*~woman_student,graduate 🧑‍🏫*~teacher,instructor,lecturer 👨‍🏫*~man_teacher,instructor,lecturer
👩‍🏫*~woman_teacher,instructor,lecturer 🧑‍⚖️*~judge,justice,law 👨‍⚖️*~man_judge,justice,law
👩‍⚖️*~woman_judge,justice,law 🧑‍🌾*~farmer,gardener,rancher 👨‍🌾*~man_farmer,gardener,rancher
👩‍🌾*~woman_farmer,gardener,rancher 🧑‍🍳*~cook,chef 👨‍🍳*~man_cook,chef 👩‍🍳*~woman_cook,chef
🧑‍🔧*~mechanic,electrician,plumber 👨‍🔧*~man_mechanic,electrician,plumber
👩‍🔧*~woman_mechanic,electrician,plumber 🧑‍🏭*~factory_worker,assembly,industrial
👨‍🏭*~man_factory_worker,assembly,industrial 👩‍🏭*~woman_factory_worker,assembly,industrial
🧑‍💼*~office_worker,architect,business 👨‍💼*~man_office_worker,architect,business
👩‍💼*~woman_office_worker,architect,business 🧑‍🔬*~scientist,biologist,chemist
👨‍🔬*~man_scientist,biologist,chemist 👩‍🔬*~woman_scientist,biologist,chemist 🧑‍💻*~technologist,coder,computer
👨‍💻*~man_technologist,coder,computer 👩‍💻*~woman_technologist,coder,computer 🧑‍🎤*~singer,actor,entertainer
👨‍🎤*~man_singer,actor,entertainer 👩‍🎤*~woman_singer,actor,entertainer 🧑‍🎨*~artist,palette
👨‍🎨*~man_artist,palette 👩‍🎨*~woman_artist,palette 🧑‍✈️*~pilot,plane 👨‍✈️*~man_pilot,plane
👩‍✈️*~woman_pilot,plane 🧑‍🚀*~astronaut,rocket,space 👨‍🚀*~man_astronaut,rocket,space
👩‍🚀*~woman_astronaut,rocket,space 🧑‍🚒*~firefighter,firetruck 👨‍🚒*~man_firefighter,firetruck
👩‍🚒*~woman_firefighter,firetruck 👮*~police_officer,cop
👮‍♂️*~man_police_officer,apprehend,arrest 👮‍♀️*~woman_police_officer,apprehend,arrest 🕵️*~detective,spy
🕵️‍♂️*~man_detective,sleuth,spy 🕵️‍♀️*~woman_detective,sleuth,spy 💂*~guard,guardsman
💂‍♂️*~man_guard,buckingham,helmet 💂‍♀️*~woman_guard,buckingham,helmet 🥷*~ninja,assassin,fight
👷*~construction_worker,build,fix 👷‍♂️*~man_construction_worker,build,fix
👷‍♀️*~woman_construction_worker,build,fix 🫅*~person_with_crown,monarch 🤴*~prince,crown,fairy
👸*~princess,crown,fairy 👳*~person_wearing_turban,man_with_turban 👳‍♂️*~man_wearing_turban
👳‍♀️*~woman_wearing_turban 👲*~man_with_chinese_cap,man_with_gua_pi_mao
🧕*~woman_with_headscarf,bandana,hijab 🤵*~person_in_tuxedo,formal,wedding 🤵‍♂️*~man_in_tuxedo,formal
🤵‍♀️*~woman_in_tuxedo,formal,wedding 👰*~person_with_veil,wedding 👰‍♂️*~man_with_veil,wedding
👰‍♀️*~woman_with_veil,bride,wedding 🤰*~pregnant_woman,expecting_woman 🫃*~pregnant_man,belly,bloated
🫄*~pregnant_person,belly,bloated 🤱*~breast_feeding,baby,mom 👩‍🍼*~woman_feeding_baby,mom,mother
👨‍🍼*~man_feeding_baby,dad,father 🧑‍🍼*~person_feeding_baby,nanny,newborn 👼*~angel,baby_angel,church
🎅*~santa,santa_claus,celebration 🤶*~mrs_claus,mother_christmas,celebration
🧑‍🎄*~mx_claus,celebration,christmas 🦸*~superhero,good,superpower 🦸‍♂️*~man_superhero,good,superpower
🦸‍♀️*~woman_superhero,good,heroine 🦹*~supervillain,bad,criminal 🦹‍♂️*~man_supervillain,bad,criminal
🦹‍♀️*~woman_supervillain,bad,criminal 🧙*~mage,fantasy,magic 🧙‍♂️*~man_mage,fantasy,magic
🧙‍♀️*~woman_mage,fantasy,magic 🧚*~fairy,fairytale,fantasy 🧚‍♂️*~man_fairy,fairytale,fantasy
🧚‍♀️*~woman_fairy,fairytale,fantasy 🧛*~vampire,blood,dracula 🧛‍♂️*~man_vampire,blood,fangs
🧛‍♀️*~woman_vampire,blood,fangs 🧜*~merperson,creature,fairytale 🧜‍♂️*~merman,creature,fairytale
🧜‍♀️*~mermaid,creature,fairytale 🧝*~elf,elves,enchantment 🧝‍♂️*~man_elf,elves,enchantment
🧝‍♀️*~woman_elf,elves,enchantment 🧞~genie,djinn,fantasy 🧞‍♂️~man_genie,djinn,fantasy
🧞‍♀️~woman_genie,djinn,fantasy 🧟~zombie,apocalypse 🧟‍♂️~man_zombie,apocalypse
🧟‍♀️~woman_zombie,apocalypse 🧌~troll,fairy,fantasy 💆*~person_getting_massage,massage,face
💆‍♂️*~man_getting_face_massage,headache,relax 💆‍♀️*~woman_getting_face_massage,headache,relax
💇*~person_getting_haircut,haircut 💇‍♂️*~man_getting_haircut,barber,beauty
💇‍♀️*~woman_getting_haircut,barber,beauty 🚶*~person_walking,walking 🚶‍♂️*~man_walking,amble,gait
🚶‍♀️*~woman_walking,amble,gait 🧍*~person_standing 🧍‍♂️*~man_standing 🧍‍♀️*~woman_standing
🧎*~person_kneeling,knees 🧎‍♂️*~man_kneeling,knees 🧎‍♀️*~woman_kneeling,knees
🧑‍🦯*~person_with_probing_cane,blind,white 👨‍🦯*~man_with_probing_cane,blind,white
👩‍🦯*~woman_with_probing_cane,blind,white 🧑‍🦼*~person_in_motorized_wheelchair 👨‍🦼*~man_in_motorized_wheelchair
👩‍🦼*~woman_in_motorized_wheelchair 🧑‍🦽*~person_in_manual_wheelchair 👨‍🦽*~man_in_manual_wheelchair
👩‍🦽*~woman_in_manual_wheelchair 🏃*~person_running,runner,fast 🏃‍♂️*~man_running,fast,hurry
🏃‍♀️*~woman_running,fast,hurry 💃*~dancer,woman_dancing,elegant
🕺*~man_dancing,male_dancer,elegant 🕴️*~levitate,man_in_business_suit_levitating,person
👯~people_with_bunny_ears_partying,dancers,bestie 👯‍♂️~men_with_bunny_ears_partying,bestie,bff
👯‍♀️~women_with_bunny_ears_partying,bestie,bff 🧖*~person_in_steamy_room,day,luxurious
🧖‍♂️*~man_in_steamy_room,day,luxurious 🧖‍♀️*~woman_in_steamy_room,day,luxurious
🧗*~person_climbing,climber,mountain 🧗‍♂️*~man_climbing,climber,mountain 🧗‍♀️*~woman_climbing,climber,mountain
🤺~person_fencing,fencer,sword 🏇*~horse_racing,jockey ⛷️~skier,snow 🏂️*~snowboarder,ski,sport
🏌️*~person_golfing,golfer,ball 🏌️‍♂️*~man_golfing,ball,birdie 🏌️‍♀️*~woman_golfing,ball,birdie
🏄️*~person_surfing,surfer 🏄‍♂️*~man_surfing,beach,ocean 🏄‍♀️*~woman_surfing,beach,ocean
🚣*~person_rowing_boat,rowboat,canoe 🚣‍♂️*~man_rowing_boat,canoe,cruise
🚣‍♀️*~woman_rowing_boat,canoe,cruise 🏊️*~person_swimming,swimmer
🏊‍♂️*~man_swimming,freestyle,sport 🏊‍♀️*~woman_swimming,freestyle,sport
⛹️*~person_bouncing_ball,basketball_player ⛹️‍♂️*~man_bouncing_ball,athletic,basketball
⛹️‍♀️*~woman_bouncing_ball,athletic,basketball 🏋️*~person_lifting_weights,lifter,barbell
🏋️‍♂️*~man_lifting_weights,barbell,bodybuilder 🏋️‍♀️*~woman_lifting_weights,barbell,bodybuilder
🚴*~person_biking,bicyclist,bicycle 🚴‍♂️*~man_biking,bicycle,bicyclist 🚴‍♀️*~woman_biking,bicycle,bicyclist
🚵*~person_mountain_biking,mountain_bicyclist,bicycle 🚵‍♂️*~man_mountain_biking,bicycle,bicyclist
🚵‍♀️*~woman_mountain_biking,bicycle,bicyclist 🤸*~person_doing_cartwheel,cartwheel
🤸‍♂️*~man_cartwheeling,active,excited 🤸‍♀️*~woman_cartwheeling,active,excited
🤼~people_wrestling,wrestlers 🤼‍♂️~men_wrestling,combat,duel 🤼‍♀️~women_wrestling,combat,duel
🤽*~person_playing_water_polo,water_polo,sport 🤽‍♂️*~man_playing_water_polo,sport,swimming
🤽‍♀️*~woman_playing_water_polo,sport,swimming 🤾*~person_playing_handball,handball,athletics
🤾‍♂️*~man_playing_handball,athletics,catch 🤾‍♀️*~woman_playing_handball,athletics,catch
🤹*~person_juggling,juggling 🤹‍♂️*~man_juggling,act,balance 🤹‍♀️*~woman_juggling,act,balance
🧘*~person_in_lotus_position,cross,legged 🧘‍♂️*~man_in_lotus_position,cross,legged
🧘‍♀️*~woman_in_lotus_position,cross,legged 🛀*~bath,bathtub,person
🛌*~sleeping_accommodation,person_in_bed 🧑‍🤝‍🧑~people_holding_hands,bae,bestie
👭~two_women_holding_hands,bae,bestie 👫~couple,bae,bestie 👬~two_men_holding_hands,bae,bestie
💏~couplekiss,anniversary 👩‍❤️‍💋‍👨~kiss_woman_man,anniversary
👨‍❤️‍💋‍👨~kiss_mm,couplekiss_mm,anniversary 👩‍❤️‍💋‍👩~kiss_ww,couplekiss_ww,anniversary
💑~couple_with_heart,anniversary 👩‍❤️‍👨~couple_with_heart_woman_man,anniversary
👨‍❤️‍👨~couple_mm,couple_with_heart_mm,anniversary 👩‍❤️‍👩~couple_ww,couple_with_heart_ww,anniversary
👨‍👩‍👦~family_man_woman_boy,child 👨‍👩‍👧~family_mwg,child,girl 👨‍👩‍👧‍👦~family_mwgb,boy,child
👨‍👩‍👦‍👦~family_mwbb,boy,child 👨‍👩‍👧‍👧~family_mwgg,child,girl 👨‍👨‍👦~family_mmb,boy,child
👨‍👨‍👧~family_mmg,child,girl 👨‍👨‍👧‍👦~family_mmgb,boy,child 👨‍👨‍👦‍👦~family_mmbb,boy,child
👨‍👨‍👧‍👧~family_mmgg,child,girl 👩‍👩‍👦~family_wwb,boy,child 👩‍👩‍👧~family_wwg,child,girl
👩‍👩‍👧‍👦~family_wwgb,boy,child 👩‍👩‍👦‍👦~family_wwbb,boy,child 👩‍👩‍👧‍👧~family_wwgg,child,girl
👨‍👦~family_man_boy,child 👨‍👦‍👦~family_man_boy_boy,child 👨‍👧~family_man_girl,child
👨‍👧‍👦~family_man_girl_boy,child 👨‍👧‍👧~family_man_girl_girl,child 👩‍👦~family_woman_boy,child
👩‍👦‍👦~family_woman_boy_boy,child 👩‍👧~family_woman_girl,child 👩‍👧‍👦~family_woman_girl_boy,child
👩‍👧‍👧~family_woman_girl_girl,child 🗣️~speaking_head,speaking_head_in_silhouette,face
👤~bust_in_silhouette,mysterious 👥~busts_in_silhouette,bff,everyone 🫂~people_hugging,comfort,embrace
👪️~family,child 👣~footprints,barefoot,clothing
`;
