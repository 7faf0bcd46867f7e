// emoji-things.js - animals, food, places, things as "emoji~name,name" (emojibase-data 17, MIT licence, Miles Johnson).
export const NATURE = `
🐵~monkey_face,animal,banana 🐒~monkey,animal,banana 🦍~gorilla,animal 🦧~orangutan,animal
🐶~dog,dog_face 🐕️~dog2,animal 🦮~guide_dog,animal 🐕‍🦺~service_dog,animal
🐩~poodle,animal,dog 🐺~wolf,animal,face 🦊~fox,fox_face,animal 🦝~raccoon,animal,curious
🐱~cat,cat_face,animal 🐈️~cat2,animal 🐈‍⬛~black_cat,animal,feline 🦁~lion_face,lion
🐯~tiger,tiger_face,animal 🐅~tiger2,animal,big 🐆~leopard,animal,big 🐴~horse,horse_face,animal
🐎~racehorse,animal 🦄~unicorn,unicorn_face 🦓~zebra,animal,stripe 🦌~deer,animal 🦬~bison,animal,buffalo
🐮~cow,cow_face,animal 🐂~ox,animal 🐃~water_buffalo,animal,zoo 🐄~cow2,animal
🐷~pig,pig_face,animal 🐖~pig2,animal,bacon 🐗~boar,animal 🐽~pig_nose,animal,face 🐏~ram,animal
🐑~sheep,ewe,animal 🐐~goat,animal 🐪~dromedary_camel,animal 🐫~camel,animal
🦙~llama,alpaca,animal 🦒~giraffe,animal,spots 🐘~elephant,animal 🦣~mammoth,animal
🦏~rhino,rhinoceros,animal 🦛~hippopotamus,animal 🐭~mouse,mouse_face,animal 🐁~mouse2,animal 🐀~rat,animal
🐹~hamster,animal,face 🐰~rabbit,rabbit_face,animal 🐇~rabbit2,animal,bunny 🐿️~chipmunk,animal,squirrel
🦫~beaver,animal 🦔~hedgehog,animal 🦇~bat,animal,vampire 🐻~bear,animal,face
🐻‍❄️~polar_bear,animal,arctic 🐨~koala,animal 🐼~panda_face,panda,animal 🦥~sloth,lazy,slow
🦦~otter,animal,fishing 🦨~skunk,animal,stink 🦘~kangaroo,animal 🦡~badger,animal,honey 🐾~feet,paw_prints
🦃~turkey,bird 🐔~chicken,animal,bird 🐓~rooster,animal,bird 🐣~hatching_chick,animal,baby
🐤~baby_chick,animal,bird 🐥~hatched_chick,animal,baby 🐦️~bird,animal 🐧~penguin,animal
🕊️~dove,dove_of_peace,bird 🦅~eagle,animal,bird 🦆~duck,animal,bird 🦢~swan,animal,bird 🦉~owl,animal,bird
🦤~dodo,animal,bird 🪶~feather,bird,flight 🦩~flamingo,animal,bird 🦚~peacock,animal,bird 🦜~parrot,animal,bird
🐸~frog,animal,face 🐊~crocodile,animal,zoo 🐢~turtle,animal,terrapin 🦎~lizard,animal,reptile
🐍~snake,animal 🐲~dragon_face,animal,fairy 🐉~dragon,animal,fairy 🦕~sauropod,brontosaurus,dinosaur
🦖~t_rex,dinosaur 🐳~whale,animal 🐋~whale2,animal 🐬~dolphin,animal 🦭~seal,animal,lion
🐟️~fish,animal,dinner 🐠~tropical_fish,animal 🐡~blowfish,animal 🦈~shark,animal
🐙~octopus,animal,creature 🐚~shell,spiral_shell,animal 🪸~coral,change 🦀~crab,cancer,zodiac
🦞~lobster,animal 🦐~shrimp,food,shellfish 🦑~squid,animal,food 🦪~oyster,diving,pearl
🐌~snail,animal 🦋~butterfly,insect,pretty 🐛~bug,animal,garden 🐜~ant,animal,garden
🐝~bee,honeybee,animal 🪲~beetle,animal,bug 🐞~lady_beetle,animal,garden 🦗~cricket,animal,bug
🪳~cockroach,animal,insect 🕷️~spider,animal,insect 🕸️~spider_web 🦂~scorpion,scorpius,zodiac
🦟~mosquito,bite,disease 🪰~fly,animal,disease 🪱~worm,animal 🦠~microbe,amoeba
💐~bouquet,anniversary,birthday 🌸~cherry_blossom,flower,plant 💮~white_flower 🪷~lotus,beauty,buddhism
🏵️~rosette,plant 🌹~rose,beauty,elegant 🥀~wilted_rose,wilted_flower 🌺~hibiscus,flower,plant
🌻~sunflower,outdoors,plant 🌼~blossom,buttercup,dandelion 🌷~tulip,blossom,flower 🌱~seedling,plant,sapling
🪴~potted_plant,decor 🌲~evergreen_tree,christmas,forest 🌳~deciduous_tree,forest,green
🌴~palm_tree,beach,plant 🌵~cactus,desert 🌾~ear_of_rice,sheaf_of_rice 🌿~herb,leaf,plant
☘️~shamrock,irish,plant 🍀~four_leaf_clover,irish 🍁~maple_leaf,falling 🍂~fallen_leaf,autumn,falling
🍃~leaves,blow 🪹~empty_nest,branch,home 🪺~nest_with_eggs,bird 🍄~mushroom,fungus,toadstool
`;
export const FOOD = `
🍇~grapes,dionysus,fruit 🍈~melon,cantaloupe,fruit 🍉~watermelon,fruit 🍊~tangerine,citrus,fruit
🍋~lemon,citrus,fruit 🍌~banana,fruit 🍍~pineapple,colada,fruit 🥭~mango,food,fruit
🍎~apple,red_apple 🍏~green_apple,fruit 🍐~pear,fruit 🍑~peach,fruit 🍒~cherries,berries,cherry
🍓~strawberry,fruit 🫐~blueberries,berry 🥝~kiwi,kiwifruit,food 🍅~tomato,food,fruit 🫒~olive,food
🥥~coconut,colada,palm 🥑~avocado,food,fruit 🍆~eggplant,aubergine,vegetable 🥔~potato,food,vegetable
🥕~carrot,food,vegetable 🌽~corn,ear_of_corn 🌶️~hot_pepper 🫑~bell_pepper,capsicum,food
🥒~cucumber,food 🥬~leafy_green,bok 🥦~broccoli,cabbage 🧄~garlic,flavoring 🧅~onion,flavoring
🥜~peanuts,shelled_peanut,food 🫘~beans,food 🌰~chestnut,almond,plant 🍞~bread,carbs,food
🥐~croissant,bread,breakfast 🥖~french_bread,baguette_bread,food 🫓~flatbread,arepa,food
🥨~pretzel,convoluted 🥯~bagel,bakery,bread 🥞~pancakes,breakfast,food 🧇~waffle,breakfast
🧀~cheese,cheese_wedge 🍖~meat_on_bone 🍗~poultry_leg,bone,chicken 🥩~cut_of_meat,chop
🥓~bacon,breakfast,food 🍔~hamburger,eat,fast 🍟~fries,french_fries,fast 🍕~pizza,cheese,food
🌭~hotdog,hot_dog 🥪~sandwich,bread 🌮~taco,mexican 🌯~burrito,mexican
🫔~tamale,food 🥙~stuffed_flatbread,stuffed_pita 🧆~falafel,chickpea,meatball
🥚~egg,breakfast,food 🍳~cooking,breakfast,easy 🥘~shallow_pan_of_food,paella 🍲~stew,pot_of_food,soup
🫕~fondue,cheese,chocolate 🥣~bowl_with_spoon,breakfast,cereal 🥗~salad,green_salad,food 🍿~popcorn,movie
🧈~butter,dairy 🧂~salt,condiment 🥫~canned_food 🍱~bento,bento_box,food 🍘~rice_cracker,food
🍙~rice_ball,food,japanese 🍚~rice,cooked_rice,food 🍛~curry,curry_rice,food 🍜~ramen,steaming_bowl,chopsticks
🍝~spaghetti,food,meatballs 🍠~sweet_potato,food 🍢~oden,food,kebab 🍣~sushi,food
🍤~fried_shrimp,prawn,tempura 🍥~fish_cake,food 🥮~moon_cake,autumn,festival 🍡~dango,dessert,japanese
🥟~dumpling,empanada 🥠~fortune_cookie,prophecy 🥡~takeout_box,chopsticks,delivery 🍦~icecream,dessert,food
🍧~shaved_ice,dessert 🍨~ice_cream,dessert,food 🍩~doughnut,breakfast,dessert 🍪~cookie,chip,chocolate
🎂~birthday,birthday_cake,bday 🍰~cake,shortcake,dessert 🧁~cupcake,bakery,dessert
🥧~pie,apple 🍫~chocolate_bar,candy,dessert 🍬~candy,cavities,dessert 🍭~lollipop,candy,dessert
🍮~custard,pudding,dessert 🍯~honey_pot,barrel,bear 🍼~baby_bottle,babies 🥛~milk,glass_of_milk,drink
☕️~coffee,hot_beverage,cafe 🫖~teapot,brew,drink 🍵~tea,beverage,cup 🍶~sake,bar
🍾~champagne,bottle_with_popping_cork,bar 🍷~wine_glass,alcohol,bar 🍸️~cocktail,alcohol,bar
🍹~tropical_drink,alcohol,bar 🍺~beer,beer_mug,alcohol 🍻~beers,alcohol,bar
🥂~champagne_glass,clinking_glass,celebrate 🥃~tumbler_glass,whisky,liquor
🫗~pouring_liquid,accident,drink 🥤~cup_with_straw,drink,juice 🧋~bubble_tea,boba,food 🧃~beverage_box,juice,straw
🧉~mate,drink 🧊~ice_cube,cold,iceberg 🥢~chopsticks,hashi
🍽️~fork_knife_plate,fork_and_knife_with_plate,cooking 🍴~fork_and_knife,breakfast
🥄~spoon,eat,tableware 🔪~knife,kitchen_knife,chef 🫙~jar,condiment 🏺~amphora,aquarius,cooking
`;
export const TRAVEL = `
🌍️~earth_africa,europe,globe 🌎️~earth_americas,globe 🌏️~earth_asia,australia,globe
🌐~globe_with_meridians,earth,internet 🗺️~map,world_map 🗾~japan,map_of_japan 🧭~compass,direction
🏔️~mountain_snow,snow_capped_mountain,cold ⛰️~mountain 🌋~volcano,eruption,mountain 🗻~mount_fuji,mountain,nature
🏕️~camping 🏖️~beach,beach_with_umbrella 🏜️~desert 🏝️~island,desert_island 🏞️~park,national_park 🏟️~stadium
🏛️~classical_building 🏗️~construction_site,building_construction 🧱~bricks,brick
🪨~rock,boulder,heavy 🪵~wood,log 🛖~hut,home,house 🏘️~homes,house_buildings
🏚️~house_abandoned,derelict_house_building,home 🏠️~house,building,country 🏡~house_with_garden,building,country
🏢~office,building,city 🏣~post_office,building,japanese 🏤~european_post_office,building
🏥~hospital,building,doctor 🏦~bank,building 🏨~hotel,building 🏩~love_hotel,building
🏪~convenience_store,building,hours 🏫~school,building 🏬~department_store,building 🏭️~factory,building
🏯~japanese_castle,building 🏰~european_castle,castle,building 💒~wedding,chapel 🗼~tokyo_tower
🗽~statue_of_liberty,new ⛪️~church,bless,chapel 🕌~mosque,islam,masjid 🛕~hindu_temple 🕍~synagogue,jew,jewish
⛩️~shinto_shrine,religion 🕋~kaaba,hajj,islam ⛲️~fountain ⛺️~tent,camping 🌁~foggy 🌃~night_with_stars
🏙️~cityscape 🌄~sunrise_over_mountains,morning 🌅~sunrise,morning,nature 🌆~city_dusk,building,cityscape
🌇~city_sunset,city_sunrise,building 🌉~bridge_at_night ♨️~hotsprings,hot_springs 🎠~carousel_horse
🛝~playground_slide,amusement,park 🎡~ferris_wheel,amusement,park 🎢~roller_coaster,amusement,park
💈~barber,barber_pole,cut 🎪~circus_tent 🚂~steam_locomotive,locomotive
🚃~railway_car,electric,train 🚄~bullettrain_side,railway,shinkansen
🚅~bullettrain_front,bullet_train 🚆~train2,arrived 🚇️~metro,subway,travel
🚈~light_rail,arrived 🚉~station,railway,train 🚊~tram,trolleybus 🚝~monorail,vehicle
🚞~mountain_railway,car 🚋~train,tram_car,bus 🚌~bus,school,vehicle 🚍️~oncoming_bus,cars
🚎~trolleybus,tram 🚐~minibus,drive,van 🚑️~ambulance,emergency,vehicle 🚒~fire_engine,truck
🚓~police_car,cops 🚔️~oncoming_police_car 🚕~taxi,cab,cabbie 🚖~oncoming_taxi,cab,cabbie
🚗~red_car,automobile 🚘️~oncoming_automobile,car 🚙~blue_car,drive
🛻~pickup_truck,automobile,car 🚚~truck,car,delivery 🚛~articulated_lorry,car 🚜~tractor,vehicle
🏎️~race_car,racing_car,zoom 🏍️~motorcycle,racing_motorcycle 🛵~motor_scooter,motorbike 🦽~manual_wheelchair
🦼~motorized_wheelchair 🛺~auto_rickshaw,tuk 🚲️~bike,bicycle 🛴~scooter,kick_scooter
🛹~skateboard,skater,wheels 🛼~roller_skate,blades,skates 🚏~busstop,bus_stop 🛣️~motorway,highway
🛤️~railway_track,railroad_track,train 🛢️~oil,oil_drum ⛽️~fuelpump,fuel_pump,diesel 🛞~wheel,car,circle
🚨~rotating_light,alarm 🚥~traffic_light,horizontal,intersection
🚦~vertical_traffic_light,drove,intersection 🛑~octagonal_sign,stop_sign 🚧~construction,barrier
⚓️~anchor,ship,tool 🛟~ring_buoy,float ⛵️~sailboat,resort,sailing 🛶~canoe,kayak,boat
🚤~speedboat,billionaire 🛳️~cruise_ship,passenger_ship ⛴️~ferry,boat,passenger 🛥️~motorboat,motor_boat
🚢~ship,boat,passenger ✈️~airplane,aeroplane,fly 🛩️~airplane_small,small_airplane,aeroplane
🛫~airplane_departure,aeroplane 🛬~airplane_arriving,aeroplane 🪂~parachute,parasail,skydive
💺~seat,chair 🚁~helicopter,roflcopter,travel 🚟~suspension_railway 🚠~mountain_cableway,gondola,lift
🚡~aerial_tramway,cable,car 🛰️~satellite_orbital,space 🚀~rocket,launch 🛸~flying_saucer,aliens
🛎️~bellhop,bellhop_bell,hotel 🧳~luggage,bag ⌛️~hourglass,done,sand ⏳️~hourglass_flowing_sand,done,hours
⌚️~watch,clock,time ⏰️~alarm_clock,hours ⏱️~stopwatch,clock,time ⏲️~timer,timer_clock
🕰️~clock,mantlepiece_clock 🕛️~clock12,twelve_oclock,time 🕧️~clock1230,twelve_thirty,time
🕐️~clock1,one_oclock,time 🕜️~clock130,one_thirty,time 🕑️~clock2,two_oclock,time 🕝️~clock230,two_thirty,time
🕒️~clock3,three_oclock,time 🕞️~clock330,three_thirty,time 🕓️~clock4,four_oclock,time
🕟️~clock430,four_thirty,time 🕔️~clock5,five_oclock,time 🕠️~clock530,five_thirty,time 🕕️~clock6,six_oclock,time
🕡️~clock630,six_thirty 🕖️~clock7,seven_oclock 🕢️~clock730,seven_thirty 🕗️~clock8,eight_oclock,time
🕣️~clock830,eight_thirty,time 🕘️~clock9,nine_oclock,time 🕤️~clock930,nine_thirty,time 🕙️~clock10,ten_oclock
🕥️~clock1030,ten_thirty,time 🕚️~clock11,eleven_oclock,time 🕦️~clock1130,eleven_thirty,time
🌑~new_moon,dark,space 🌒~waxing_crescent_moon,dreams,space 🌓~first_quarter_moon,space
🌔~waxing_gibbous_moon,space 🌕️~full_moon,space 🌖~waning_gibbous_moon,space 🌗~last_quarter_moon,space
🌘~waning_crescent_moon,space 🌙~crescent_moon,ramadan,space 🌚~new_moon_with_face,new_moon_face,space
🌛~first_quarter_moon_with_face,space 🌜️~last_quarter_moon_with_face,dreams 🌡️~thermometer,weather
☀️~sunny,sun,bright 🌝~full_moon_with_face,bright 🌞~sun_with_face,beach,bright
🪐~ringed_planet,saturn ⭐️~star,astronomy 🌟~star2,glowing_star
🌠~stars,shooting_star,falling 🌌~milky_way,space ☁️~cloud,weather ⛅️~partly_sunny,behind,cloud
⛈️~thunder_cloud_rain,thunder_cloud_and_rain,lightning
🌤️~white_sun_small_cloud,white_sun_with_small_cloud
🌥️~white_sun_cloud,white_sun_behind_cloud,weather
🌦️~white_sun_rain_cloud,white_sun_behind_cloud_with_rain,weather 🌧️~cloud_rain,cloud_with_rain,weather
🌨️~cloud_snow,cloud_with_snow,cold 🌩️~cloud_lightning,cloud_with_lightning,weather
🌪️~cloud_tornado,cloud_with_tornado,weather 🌫️~fog,cloud,weather 🌬️~wind_blowing_face,wind_face,cloud
🌀~cyclone,dizzy 🌈~rainbow,gay,genderqueer 🌂~closed_umbrella,clothing,rain ☂️~umbrella2,clothing,rain
☔️~umbrella,clothing,drop ⛱️~beach_umbrella,umbrella_on_ground,rain ⚡️~zap,high_voltage
❄️~snowflake,cold,weather ☃️~snowman2,cold ⛄️~snowman,cold ☄️~comet,space 🔥~fire,flame,burn
💧~droplet,cold 🌊~ocean,water_wave,nature
`;
export const ACTIVITIES = `
🎃~jack_o_lantern,celebration,halloween 🎄~christmas_tree,celebration 🎆~fireworks,boom,celebration
🎇~sparkler,boom,celebration 🧨~firecracker,dynamite ✨️~sparkles,magic,star
🎈~balloon,birthday,celebrate 🎉~tada,party_popper,awesome 🎊~confetti_ball,celebrate,celebration
🎋~tanabata_tree,banner,celebration 🎍~bamboo,celebration 🎎~dolls,celebration,festival
🎏~flags,carp_streamer,celebration 🎐~wind_chime,bell,celebration 🎑~rice_scene,celebration,ceremony
🧧~red_envelope,gift,good 🎀~ribbon,celebration 🎁~gift,wrapped_gift,birthday 🎗️~reminder_ribbon,celebration
🎟️~tickets,admission_tickets 🎫~ticket,admission 🎖️~military_medal,award,celebration
🏆️~trophy,champion 🏅~medal,sports_medal 🥇~first_place,first_place_medal,gold
🥈~second_place,second_place_medal,silver 🥉~third_place,third_place_medal
⚽️~soccer,soccer_ball,football ⚾️~baseball,sport 🥎~softball,glove,sports 🏀~basketball,hoop,sport
🏐~volleyball,game 🏈~football,american 🏉~rugby_football,sport 🎾~tennis,ball,racquet 🥏~flying_disc,ultimate
🎳~bowling,ball,game 🏏~cricket_game,cricket_bat_ball 🏑~field_hockey,ball,game 🏒~hockey,ice_hockey,game
🥍~lacrosse,ball 🏓~ping_pong,table_tennis,ball 🏸~badminton,birdie,game 🥊~boxing_glove,boxing_gloves
🥋~martial_arts_uniform,karate_uniform,judo 🥅~goal,goal_net ⛳️~golf,flag_in_hole,sport
⛸️~ice_skate,skating 🎣~fishing_pole_and_fish,fishing_pole,sport 🤿~diving_mask,scuba,snorkeling
🎽~running_shirt_with_sash,running_shirt,athletics 🎿~ski,skis,snow 🛷~sled,luge,sledge
🥌~curling_stone,game 🎯~dart,direct_hit 🪀~yo_yo,fluctuate,toy 🪁~kite,fly,soar
🔫~gun,pistol,handgun 🎱~8ball,billiard,eight 🔮~crystal_ball,fairy,fairytale 🪄~magic_wand,magician,witch
🎮️~video_game,controller 🕹️~joystick,game,video 🎰~slot_machine,casino,gamble 🎲~game_die,dice
🧩~jigsaw,puzzle_piece,clue 🧸~teddy_bear,plaything 🪅~pinata,candy,celebrate
🪩~mirror_ball,dance 🪆~nesting_dolls,babooshka ♠️~spades,spade_suit,card
♥️~hearts,heart_suit,card ♦️~diamonds,diamond_suit,card ♣️~clubs,club_suit,card
♟️~chess_pawn,dupe 🃏~black_joker,joker,card 🀄️~mahjong,dragon,game
🎴~flower_playing_cards,game,japanese 🎭️~performing_arts,actor
🖼️~frame_photo,frame_with_picture,art 🎨~art,artist 🧵~thread,needle,sewing
🪡~sewing_needle,embroidery,stitches 🧶~yarn,ball,crochet 🪢~knot,cord,rope
`;
export const OBJECTS = `
👓️~eyeglasses,glasses,clothing 🕶️~dark_sunglasses,eye,eyewear 🥽~goggles,dive,eye
🥼~lab_coat,clothes,doctor 🦺~safety_vest,emergency 👔~necktie,clothing 👕~shirt,t_shirt,blue
👖~jeans,blue,casual 🧣~scarf,bundle,cold 🧤~gloves,hand 🧥~coat,brr 🧦~socks,stocking
👗~dress,clothes,clothing 👘~kimono,clothing 🥻~sari,clothing,dress 🩱~one_piece_swimsuit,bathing
🩲~briefs,bathing,suit 🩳~shorts,bathing 👙~bikini,bathing 👚~womans_clothes,blouse,clothing
👛~purse,clothes,clothing 👜~handbag,clothes,clothing 👝~pouch,clutch_bag,clothes 🛍️~shopping_bags,hotel
🎒~school_satchel,backpack 🩴~thong_sandal,beach 👞~mans_shoe,brown,clothes
👟~athletic_shoe,running_shoe,clothes 🥾~hiking_boot,backpacking
🥿~womans_flat_shoe,flat_shoe,ballet 👠~high_heel,clothes,clothing 👡~sandal,womans_sandal,clothing
🩰~ballet_shoes,dance 👢~boot,womans_boot,clothes 👑~crown,clothing,family 👒~womans_hat,clothes,clothing
🎩~tophat,top_hat,clothes 🎓️~mortar_board,cap,celebration 🧢~billed_cap,baseball
🪖~military_helmet,army,soldier ⛑️~helmet_with_cross,helmet_with_white_cross
📿~prayer_beads,clothing,necklace 💄~lipstick,cosmetics,date 💍~ring,diamond
💎~gem,gem_stone,diamond 🔇~mute,muted_speaker,quiet 🔈️~speaker,low 🔉~sound,medium,speaker
🔊~loud_sound,high,music 📢~loudspeaker,address 📣~mega,megaphone,cheering 📯~postal_horn
🔔~bell,break,church 🔕~no_bell,forbidden,mute 🎼~musical_score,note 🎵~musical_note,sound
🎶~notes,musical_notes,sound 🎙️~microphone2,studio_microphone,music 🎚️~level_slider,music 🎛️~control_knobs,music
🎤~microphone,karaoke,music 🎧️~headphones,headphone 📻️~radio,tbt,video 🎷~saxophone,instrument,music
🎺~trumpet,instrument,music 🪗~accordion,box,concertina 🎸~guitar,instrument,music
🎹~musical_keyboard,instrument,piano 🎻~violin,instrument,music 🪕~banjo,music
🥁~drum,drum_with_drumsticks,music 🪘~long_drum,beat 📱~mobile_phone,cell,telephone 📲~calling,arrow
☎️~telephone 📞~telephone_receiver,voip 📟️~pager 📠~fax,fax_machine 🔋~battery 🪫~low_battery,drained,electronic
🔌~electric_plug,electricity 💻️~computer,office 🖥️~desktop,desktop_computer,monitor 🖨️~printer,computer
⌨️~keyboard,computer 🖱️~mouse_three_button,three_button_mouse,computer 🖲️~trackball,computer
💽~minidisc,computer_disk 💾~floppy_disk,computer 💿️~cd,optical_disk,computer
📀~dvd,computer 🧮~abacus,calculation,calculator 🎥~movie_camera,bollywood,cinema 🎞️~film_frames,cinema,movie
📽️~projector,film_projector,cinema 🎬️~clapper,clapper_board,action 📺️~tv,television,video
📷️~camera,photo,selfie 📸~camera_with_flash,video 📹️~video_camera,camcorder 📼~vhs,videocassette
🔍️~mag,glass,lab 🔎~mag_right,contact,glass 🕯️~candle,light 💡~bulb,light_bulb
🔦~flashlight,electric,tool 🏮~izakaya_lantern,bar,light 🪔~diya_lamp,light
📔~notebook_with_decorative_cover,decorated,education 📕~closed_book,education 📖~book,open_book,education
📗~green_book,education,fantasy 📘~blue_book,education,fantasy 📙~orange_book,education,fantasy
📚️~books,education,fantasy 📓~notebook 📒~ledger,notebook 📃~page_with_curl,document,paper 📜~scroll,paper
📄~page_facing_up,document,paper 📰~newspaper 🗞️~newspaper2,rolled_up_newspaper 📑~bookmark_tabs,marker 🔖~bookmark
🏷️~label,tag 🪙~coin,dollar,euro 💰️~moneybag,money_bag,bank 💴~yen,yen_banknote,bill
💵~dollar,bank,banknote 💶~euro,euro_banknote,bill 💷~pound,bank,banknote
💸~money_with_wings,bank,banknote 💳️~credit_card,bank,cash 🧾~receipt,accounting
💹~chart,bank,currency ✉️~envelope,email,letter 📧~e-mail,email,letter 📨~incoming_envelope,delivering,email
📩~envelope_with_arrow,down,email 📤️~outbox_tray,email,letter 📥️~inbox_tray,email,letter 📦️~package,box,delivery
📫️~mailbox,closed 📪️~mailbox_closed,flag,lowered 📬️~mailbox_with_mail,flag,open
📭️~mailbox_with_no_mail,flag,lowered 📮~postbox,mail,mailbox 🗳️~ballot_box,ballot_box_with_ballot ✏️~pencil2
✒️~black_nib,pen 🖋️~pen_fountain,lower_left_fountain_pen 🖊️~pen_ballpoint,lower_left_ballpoint_pen
🖌️~paintbrush,lower_left_paintbrush,painting 🖍️~crayon,lower_left_crayon 📝~pencil,memo
💼~briefcase,office 📁~file_folder 📂~open_file_folder 🗂️~dividers,card_index_dividers 📅~date 📆~calendar
🗒️~notepad_spiral,spiral_note_pad 🗓️~calendar_spiral,spiral_calendar_pad 📇~card_index,old
📈~chart_with_upwards_trend,data,graph 📉~chart_with_downwards_trend,data 📊~bar_chart,data,graph
📋️~clipboard,list 📌~pushpin,collage 📍~round_pushpin,location,map 📎~paperclip
🖇️~paperclips,linked_paperclips 📏~straight_ruler,angle 📐~triangular_ruler,angle,math
✂️~scissors,cut,cutting 🗃️~card_box,card_file_box 🗄️~file_cabinet,filing,paper 🗑️~wastebasket,can,garbage
🔒️~lock,locked,closed 🔓️~unlock,unlocked 🔏~lock_with_ink_pen,locked
🔐~closed_lock_with_key,bike,locked 🔑~key,keys,lock 🗝️~key2,old_key,clue 🔨~hammer,home,improvement
🪓~axe,chop ⛏️~pick,hammer ⚒️~hammer_pick,hammer_and_pick,tool 🛠️~tools,hammer_and_wrench,spanner
🗡️~dagger,dagger_knife,weapon ⚔️~crossed_swords,weapon 💣️~bomb,boom 🪃~boomerang,rebound
🏹~bow_and_arrow,archery,sagittarius 🛡️~shield,weapon 🪚~carpentry_saw,carpenter,cut
🔧~wrench,home,improvement 🪛~screwdriver,flathead 🔩~nut_and_bolt,home,improvement ⚙️~gear,cog,cogwheel
🗜️~compression,clamp,tool ⚖️~scales,balance_scale,justice 🦯~probing_cane,blind,white 🔗~link,links
⛓️~chains 🪝~hook,catch 🧰~toolbox,chest 🧲~magnet,attraction,horseshoe 🪜~ladder,climb
⚗️~alembic,chemistry,tool 🧪~test_tube,chemist,chemistry 🧫~petri_dish,bacteria
🧬~dna,biologist 🔬~microscope,experiment,lab 🔭~telescope,contact,science 📡~satellite,aliens
💉~syringe,doctor 🩸~drop_of_blood,bleed,donation 💊~pill,doctor,drugs 🩹~adhesive_bandage 🩼~crutch,aid,cane
🩺~stethoscope,doctor,heart 🩻~x_ray,bones,doctor 🚪~door,back,closet 🛗~elevator,hoist,lift
🪞~mirror,makeup 🪟~window,air 🛏️~bed,hotel,sleep 🛋️~couch,couch_and_lamp,hotel 🪑~chair,seat
🚽~toilet,bathroom 🪠~plunger,cup 🚿~shower,water 🛁~bathtub 🪤~mouse_trap,bait,cheese 🪒~razor,sharp
🧴~squeeze_bottle,lotion_bottle,moisturizer 🧷~safety_pin,diaper 🧹~broom,cleaning,sweeping
🧺~basket,farming,laundry 🧻~roll_of_paper,toilet,towels 🪣~bucket,cask 🧼~soap,bar
🫧~bubbles,burp,clean 🪥~toothbrush,bathroom,clean 🧽~sponge,absorbing,cleaning 🧯~fire_extinguisher,quench
🛒~shopping_cart,shopping_trolley 🚬~smoking,cigarette ⚰️~coffin,dead,death 🪦~headstone,cemetery
⚱️~urn,funeral_urn 🧿~nazar_amulet,bead,blue 🪬~hamsa,amulet 🗿~moyai,moai,face
🪧~placard,notice 🪪~identification_card,credentials,document
`;
