"""The 2,203 hand-picked words of the grammar. Tests draw known sentences in this order, so only append words."""

NAMES = """
    Anna Tom Maria John Sarah Peter Emma David Lucy James Alice Michael Sophie Daniel Laura Robert Julia Henry Clara
    Oliver Nina Frank Helen George Paul Linda Martin Rosa Simon Karen
""".split()

CITIES = """
    London Paris Berlin Madrid Rome Boston Chicago Dublin Vienna Tokyo Lisbon Oslo Toronto Geneva Milan Denver Sydney
    Prague Athens Seattle
""".split()

MONTHS = """
    January February March April May June July August September October November December
""".split()

WEEKDAYS = """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
""".split()

PEOPLE = """
    man woman boy girl child doctor teacher student driver nurse farmer manager engineer artist writer singer lawyer
    officer baker waiter captain pilot soldier king queen friend neighbor brother sister mother father uncle aunt
    cousin grandfather grandmother baby customer guest visitor worker player coach scientist journalist director
    president minister judge mayor patient stranger tourist speaker partner colleague leader
""".split()

ANIMALS = """
    dog cat horse cow sheep bird fish rabbit mouse bear lion tiger elephant monkey chicken duck goat snake frog wolf
    fox bee spider whale
""".split()

FOOD = """
    bread butter cheese milk coffee tea water juice soup salad rice pasta chicken beef fish apple banana orange lemon
    potato tomato onion carrot sugar salt pepper honey cake chocolate cookie sandwich pizza egg meat fruit breakfast
    lunch dinner wine beer
""".split()

PLACES = """
    house school office hospital park garden kitchen bedroom bathroom station airport hotel restaurant market shop
    store library museum theater church bank factory farm village city town street bridge river lake beach forest
    mountain island field road corner square building garage classroom harbor castle valley desert ocean
""".split()

THINGS = """
    book table chair window door key phone computer camera bag box bottle cup glass plate knife fork spoon bed lamp
    clock watch picture letter pen pencil paper newspaper magazine map ticket card wallet umbrella coat shirt shoe hat
    dress jacket ring mirror carpet blanket pillow towel brush soap radio television guitar piano bicycle car truck
    bus train boat plane ship engine wheel machine hammer ladder basket rope candle flag ball toy gift package
    suitcase passport medicine battery screen keyboard button cable
""".split()

IDEAS = """
    problem question answer idea plan story song movie game lesson project report meeting message reason result change
    chance decision mistake secret dream joke word name number price bill contract law rule history future past
    weather news music art science language culture business company system service program budget team group class
    party holiday journey trip visit interview speech discussion agreement argument accident event test exam job
    career health safety peace war power energy money time space world life love truth memory success failure progress
    experience knowledge education information attention pressure support research theory method example
""".split()

NATURE = """
    sun moon star sky cloud rain snow wind storm tree flower leaf grass stone sand fire earth air shadow light summer
    winter spring autumn
""".split()

BODY = """
    head hand arm leg foot eye ear nose mouth face heart back shoulder finger knee neck
""".split()

ADJECTIVES = """
    big small large little old new young good bad great long short high low hot cold warm cool wet dry clean dirty
    full empty heavy light dark bright fast slow quick easy hard simple difficult strong weak rich poor happy sad
    angry tired hungry thirsty sick healthy safe dangerous quiet loud soft sharp deep wide narrow thick thin round
    flat straight beautiful ugly nice pretty strange normal common rare special important famous popular public
    private free busy ready late early open closed wrong right true false real perfect serious funny careful lucky
    honest polite friendly brave clever stupid lazy modern ancient foreign local final similar different certain
    possible impossible necessary useful expensive cheap fresh sweet bitter sour broken lovely terrible wonderful
    excellent awful red blue green yellow black white brown gray pink purple golden silver wooden
""".split()

ADVERBS = """
    quickly slowly carefully quietly loudly suddenly finally usually often sometimes always never rarely really
    probably certainly simply clearly easily hardly nearly almost already soon again together alone outside inside
    everywhere here there now today tomorrow yesterday tonight early late
""".split()

TRANSITIVE_VERBS = """
    see find buy sell bring take give make build break clean open close carry hold drop lift move push pull paint draw
    write read send receive want need like love hate know remember forget understand explain describe discuss change
    check choose collect count cover cut design discover enjoy finish start fix follow forgive help hide hit hurt
    invite join keep kick kill learn leave lose mention miss notice offer order pay plan prepare produce promise
    protect prove raise reach recognize record reduce refuse remove repair repeat replace save share show sign spend
    steal stop study support teach test throw touch try turn use visit wash waste watch wear win
""".split()

INTRANSITIVE_VERBS = """
    go come walk run sit stand sleep wake work play talk speak laugh cry smile sing dance swim fly fall jump wait stay
    live die travel arrive return stop start begin cook eat drink think dream rest study listen look agree appear
    disappear happen grow shout whisper worry hurry
""".split()

FUNCTION_WORDS = """
    the of and to in is you that it he was for on are as with his they at be this have from or by but not what all
    were we when your can said there each which she do how their if will up other about out many then them these so
    some her would him into has more two could no than been its who now people my made over did down only way may
    after back most before through where much must even well such because any same our between should still while last
    might us too under until never against around without again few during both yes please thanks hello sorry okay
    goodbye good morning afternoon evening night everyone nobody something nothing anything someone somewhere somebody
    welcome
""".split()

MORE_WORDS = """
    able above accept across act action add address adult affair afraid age agency agent ago allow alone along
    although among amount analysis animal another area army arrive article aside asleep attack audience author
    available avoid awake award away bar base beat beauty become behind belief believe below belong beside best better
    beyond birth bit blood board body bone born bottom box brain branch bread breath brown burn call calm camera
    campaign cancer capital care case catch cause cell center central century chair challenge character charge choice
    circle citizen claim clear climb coast code cold collar college color commercial community compare concern
    condition conference congress connect consider contain continue control copy cost cotton council country couple
    courage court cousin create crime crowd cup current damage danger daughter day deal death debate decade decide
    defense degree deliver demand department depend desk despite detail develop device direct disease distance
    district divide dollar double doubt dozen drama drug dust duty east economy edge effect effort either election
    electric else employee enemy engine enough enter entire environment equal especially evening evidence exactly
    except exist expect expert express extra fact fair faith family fashion fear feel fellow fever figure film finance
    fine finger firm floor focus force form former forward frame freedom front fuel function fund gain general gentle
    gift glad goal god gold government grade ground growth guess guide gun guard habit hair half hall hang happy heat
    height hill himself hole home hope host hour however huge human hundred hunt husband ice identify image imagine
    impact improve include increase indeed indicate industry inside instead institution interest international
    internet investment involve iron issue item itself key kid kind knee laboratory labor lady land laugh lawyer lay
    lead least legal less level library lie limit line link lip list loan lock loss lot lunch mail main major majority
    manage march mark marriage material matter maybe measure media medical meet member mental metal middle might mile
    military million mind minute mission model moment month moral motion motor movement muscle nation natural nature
    near neck network next noise none nor north note novel oil once onto operation opportunity opposite option
    organization original others ourselves own owner page pain pair palace parent part particular pass path pattern
    pause per perform perhaps period person phrase physical piece pipe play pleasure pocket poem point poison policy
    political pool population position post pot potential pound practice present press prevent prince prison private
    prize process product professor profit property provide pull purpose quality quarter quite race rate rather ray
    react ready reality realize recent region relationship religion remain report represent require respect respond
    response responsibility rest return reveal ride rise risk role roll roof room root rough row royal rush sail
    salary sale scale scene schedule scheme screen sea search season seat seek seem sense sentence separate series set
    several shake shape shell shine shoot shore shot shoulder side sight sign silence similar since single site
    situation size skill skin smoke snow social society soil solution son sort sound source south speed spirit sport
    spot spread staff stage standard state statement step stick stock strategy stream strength structure style subject
    suffer suggest suit surface surprise surround survive table talent target task tax technology tell temple tend
    term themselves therefore third though thousand threat throat tie tiny tongue tool tooth top total tour toward
    trade tradition trainer treat treatment tree trial trouble trust type understand union unit university upon value
    variety various vast version victim view violence voice vote wage wall warm wave weapon week weight west western
    whatever whether whole whom whose wife wild wing wire wise within wonder wood yard yeah year yellow yet yourself
    youth zone
""".split()

ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
""".split()

ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth
""".split()

#: Nouns without a plural.
MASS_NOUNS = set("""
    bread butter cheese milk coffee tea water juice soup salad rice pasta beef fish sugar salt pepper honey chocolate
    meat fruit breakfast lunch dinner wine beer weather news music art science culture health safety peace war power
    energy money time space love truth success failure progress experience knowledge education information attention
    pressure support research history paper soap medicine
""".split())

#: Pairs of a verb and its past.
IRREGULAR_PASTS = dict(pair.split() for pair in """
    see saw, find found, buy bought, sell sold, bring brought, take took, give gave, make made, build built, break
    broke, hold held, draw drew, write wrote, read read, send sent, know knew, forget forgot, understand understood,
    choose chose, cut cut, forgive forgave, hide hid, hit hit, hurt hurt, keep kept, leave left, lose lost, pay paid,
    show showed, spend spent, steal stole, teach taught, throw threw, wear wore, win won, go went, come came, run ran,
    sit sat, stand stood, sleep slept, wake woke, speak spoke, sing sang, swim swam, fly flew, fall fell, begin began,
    eat ate, drink drank, think thought, grow grew, drop dropped, stop stopped, plan planned
""".split(","))

IRREGULAR_PLURALS = dict(
    man="men", woman="women", child="children", foot="feet", mouse="mice", sheep="sheep", fish="fish", knife="knives",
    wolf="wolves", leaf="leaves", life="lives", baby="babies",
)
TENS = [None, None, *"twenty thirty forty fifty sixty seventy eighty ninety".split()]
