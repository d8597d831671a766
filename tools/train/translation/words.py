"""The word tables of the bilingual grammar: English with Spanish and French, one word per line.

Nouns:      english[/plural]; spanish gender[/plural]; french gender[/plural]; class, then the actions that fit it
Adjectives: english; spanish; s (ser) or e (estar); french masculine/feminine; b (before its noun) or a (after);
            classes of nouns that it may describe; english comparative, if the comparison rules may use it
Rules make regular plurals and feminines (spanish.py, french.py, english.py).
A noun of class `kin` is also a person, but needs an owner ("my sister"). `owned`: people may have one. `single`: nobody
has more than one. `mass`: never counted.
"""

NOUNS = """
man/men; hombre m; homme m; person
woman/women; mujer f; femme f; person
boy; chico m; garçon m; person
girl; chica f; fille f; person
child/children; niño m; enfant m; person owned
baby; bebé m; bébé m; person owned
teacher; profesor m; professeur m; person owned
student; estudiante m; étudiant m; person owned
doctor; médico m; médecin m; person owned
nurse; enfermera f; infirmière f; person owned
baker; panadero m; boulanger m; person
driver; conductor m; conducteur m; person owned
waiter; camarero m; serveur m; person
farmer; agricultor m; agriculteur m; person
writer; escritor m; écrivain m; person
singer; cantante m; chanteur m; person
lawyer; abogado m; avocat m; person owned
artist; artista m; artiste m; person
engineer; ingeniero m; ingénieur m; person
journalist; periodista m; journaliste m; person
president; presidente m; président m; person
king; rey m; roi m; person
queen; reina f; reine f; person
guest; invitado m; invité m; person owned
customer; cliente m; client m; person owned
tourist; turista m; touriste m; person
visitor; visitante m; visiteur m; person
captain; capitán m; capitaine m; person
pilot; piloto m; pilote m; person
soldier; soldado m; soldat m; person
worker; trabajador m; ouvrier m; person
player; jugador m; joueur m; person
friend; amigo m; ami m; kin
neighbor; vecino m; voisin m; kin
colleague; colega m; collègue m; kin
brother; hermano m; frère m; kin
sister; hermana f; sœur f; kin
mother; madre f; mère f; kin single
father; padre m; père m; kin single
son; hijo m; fils m; kin
daughter; hija f; fille f; kin
uncle; tío m; oncle m; kin
aunt; tía f; tante f; kin
cousin; primo m; cousin m; kin
grandfather; abuelo m; grand-père m/grands-pères; kin
grandmother; abuela f; grand-mère f/grands-mères; kin
husband; marido m; mari m; kin single
wife/wives; esposa f; femme f; kin single
dog; perro m; chien m; animal
cat; gato m; chat m; animal
horse; caballo m; cheval m; animal
bird; pájaro m; oiseau m; animal
cow; vaca f; vache f; animal
rabbit; conejo m; lapin m; animal
goat; cabra f; chèvre f; animal
duck; pato m; canard m; animal
mouse/mice; ratón m; souris f; animal
apple; manzana f; pomme f; food
orange; naranja f; orange f; food
banana; plátano m; banane f; food
lemon; limón m; citron m; food
tomato/tomatoes; tomate m; tomate f; food
potato/potatoes; patata f; pomme de terre f/pommes de terre; food cook
carrot; zanahoria f; carotte f; food cook
onion; cebolla f; oignon m; food cook
egg; huevo m; œuf m; food cook
cake; pastel m; gâteau m; food cook
cookie; galleta f; biscuit m; food
sandwich; bocadillo m; sandwich m; food cook
pizza; pizza f; pizza f; food cook
salad; ensalada f; salade f; food cook
bread; pan m; pain m; food mass
cheese; queso m; fromage m; food mass
butter; mantequilla f; beurre m; food mass
rice; arroz m; riz m; food mass cook
meat; carne f; viande f; food mass cook
soup; sopa f; soupe f; food mass cook
sugar; azúcar m; sucre m; food mass
salt; sal f; sel m; food mass
chocolate; chocolate m; chocolat m; food mass
honey; miel f; miel m; food mass
coffee; café m; café m; drink mass cook
tea; té m; thé m; drink mass cook
water; agua f; eau f; drink mass
milk; leche f; lait m; drink mass
juice; zumo m; jus m; drink mass
wine; vino m; vin m; drink mass
beer; cerveza f; bière f; drink mass
book; libro m; livre m; thing read carry open
letter; carta f; lettre f; thing read carry open write
newspaper; periódico m; journal m; thing read carry
magazine; revista f; magazine m; thing read carry
map; mapa m; carte f; thing read carry
table; mesa f; table f; thing seat
chair; silla f; chaise f; thing seat carry
door; puerta f; porte f; thing open fixed
window; ventana f; fenêtre f; thing open fixed
key; llave f; clé f; thing carry
phone; teléfono m; téléphone m; thing carry machine
computer; ordenador m; ordinateur m; thing machine carry
camera; cámara f; appareil photo m/appareils photo; thing machine carry
television; televisión f; télévision f; thing machine
radio; radio f; radio f; thing machine carry
machine; máquina f; machine f; thing machine
lamp; lámpara f; lampe f; thing machine
clock; reloj m; horloge f; thing machine
watch/watches; reloj m; montre f; thing carry
picture; foto f; photo f; thing carry
box/boxes; caja f; boîte f; thing open carry
bag; bolsa f; sac m; thing open carry
suitcase; maleta f; valise f; thing open carry
bottle; botella f; bouteille f; thing open carry
cup; taza f; tasse f; thing carry
glass/glasses; vaso m; verre m; thing carry
plate; plato m; assiette f; thing carry
knife/knives; cuchillo m; couteau m; thing carry
spoon; cuchara f; cuillère f; thing carry
fork; tenedor m; fourchette f; thing carry
bed; cama f; lit m; thing seat
mirror; espejo m; miroir m; thing
blanket; manta f; couverture f; thing carry
ticket; billete m; billet m; thing carry
passport; pasaporte m; passeport m; thing carry
wallet; cartera f; portefeuille m; thing carry
umbrella; paraguas m/paraguas; parapluie m; thing carry
gift; regalo m; cadeau m; thing carry open
pen; bolígrafo m; stylo m; thing carry
pencil; lápiz m; crayon m; thing carry
ring; anillo m; bague f; thing carry
card; tarjeta f; carte f; thing carry write
ball; pelota f; balle f; thing carry
toy; juguete m; jouet m; thing carry
candle; vela f; bougie f; thing carry
basket; cesta f; panier m; thing carry
flag; bandera f; drapeau m; thing carry
rope; cuerda f; corde f; thing carry
ladder; escalera f; échelle f; thing carry
guitar; guitarra f; guitare f; thing carry
piano; piano m; piano m; thing
coat; abrigo m; manteau m; thing wear carry
shirt; camisa f; chemise f; thing wear carry
hat; sombrero m; chapeau m; thing wear carry
dress/dresses; vestido m; robe f; thing wear carry
jacket; chaqueta f; veste f; thing wear carry
shoe; zapato m; chaussure f; thing wear carry
tree; árbol m; arbre m; thing plant
flower; flor f; fleur f; thing plant carry
car; coche m; voiture f; thing vehicle machine
bus/buses; autobús m; bus m; thing vehicle
train; tren m; train m; thing vehicle
plane; avión m; avion m; thing vehicle
boat; barco m; bateau m; thing vehicle machine
truck; camión m; camion m; thing vehicle machine
bicycle; bicicleta f; vélo m; thing vehicle machine
problem; problema m; problème m; info explain
question; pregunta f; question f; info explain
answer; respuesta f; réponse f; info explain
idea; idea f; idée f; info explain
plan; plan m; plan m; info explain
story; historia f; histoire f; info explain read write
song; canción f; chanson f; info write
message; mensaje m; message m; info read write explain
report; informe m; rapport m; info read write explain
word; palabra f; mot m; info explain write
name; nombre m; nom m; info write
number; número m; numéro m; info write
address/addresses; dirección f; adresse f; info write
price; precio m; prix m; info explain
secret; secreto m; secret m; info explain
mistake; error m; erreur f; info explain
decision; decisión f; décision f; info explain
rule; regla f; règle f; info explain
result; resultado m; résultat m; info explain
reason; razón f; raison f; info explain
dream; sueño m; rêve m; info explain
contract; contrato m; contrat m; info read write explain
bill; cuenta f; facture f; info read
project; proyecto m; projet m; info explain
job; empleo m; emploi m; info
color; color m; couleur f; info
language; idioma m; langue f; info
attention; atención f; attention f; abstract mass
help; ayuda f; aide f; abstract mass
patience; paciencia f; patience f; abstract mass
time; tiempo m; temps m; abstract mass
money; dinero m; argent m; abstract mass
information; información f; information f/informations; abstract mass
lesson; lección f; leçon f; event prepare
class/classes; clase f; cours m; event prepare
meeting; reunión f; réunion f; event prepare
party; fiesta f; fête f; event prepare
exam; examen m/exámenes; examen m; event prepare
game; juego m; jeu m; event
movie; película f; film m; event
concert; concierto m; concert m; event
interview; entrevista f; entretien m; event prepare
trip; viaje m; voyage m; event prepare
visit; visita f; visite f; event prepare
breakfast; desayuno m; petit déjeuner m/petits déjeuners; event prepare meal
lunch; almuerzo m; déjeuner m; event prepare meal
dinner; cena f; dîner m; event prepare meal
house; casa f; maison f; place
school; escuela f; école f; place
university; universidad f; université f; place
office; oficina f; bureau m; place
hospital; hospital m; hôpital m; place
park; parque m; parc m; place
garden; jardín m; jardin m; place
kitchen; cocina f; cuisine f; place
bedroom; dormitorio m; chambre f; place
bathroom; cuarto de baño m/cuartos de baño; salle de bains f/salles de bains; place
room; habitación f; pièce f; place
station; estación f; gare f; place
airport; aeropuerto m; aéroport m; place
hotel; hotel m; hôtel m; place
restaurant; restaurante m; restaurant m; place
market; mercado m; marché m; place
shop; tienda f; magasin m; place
bakery; panadería f; boulangerie f; place
pharmacy; farmacia f; pharmacie f; place
library; biblioteca f; bibliothèque f; place
museum; museo m; musée m; place
theater; teatro m; théâtre m; place
church/churches; iglesia f; église f; place
bank; banco m; banque f; place
factory; fábrica f; usine f; place
building; edificio m; bâtiment m; place
garage; garaje m; garage m; place
farm; granja f; ferme f; place
village; pueblo m; village m; place
city; ciudad f; ville f; place
street; calle f; rue f; place
square; plaza f; place f; place
bridge; puente m; pont m; place
castle; castillo m; château m; place
beach/beaches; playa f; plage f; place
island; isla f; île f; place
river; río m; rivière f; place
lake; lago m; lac m; place
forest; bosque m; forêt f; place
mountain; montaña f; montagne f; place
"""

# Places to be at or go to: english noun; english preposition; french preposition; g if "go to the X" is usual.
PLACES = """
house; in; dans
school; at; à; g
university; at; à; g
office; at; à; g
hospital; in; à; g
park; in; dans; g
garden; in; dans
kitchen; in; dans; g
bedroom; in; dans
bathroom; in; dans
room; in; dans
station; at; à; g
airport; at; à; g
hotel; at; à; g
restaurant; at; à; g
market; at; à; g
shop; in; dans; g
bakery; in; dans; g
pharmacy; in; dans; g
library; in; dans; g
museum; at; à; g
theater; at; à; g
church; in; dans; g
bank; at; à; g
factory; in; dans; g
building; in; dans
garage; in; dans
farm; on; à; g
village; in; dans
city; in; dans
street; in; dans
square; in; sur
bridge; on; sur
castle; in; dans; g
beach; on; sur; g
island; on; sur
river; in; dans
lake; in; dans; g
forest; in; dans; g
"""

ADJECTIVES = """
big; grande; s; grand/grande; b; animal thing place; bigger
small; pequeño; s; petit/petite; b; person animal thing place; smaller
new; nuevo; s; nouveau/nouvelle; b; thing place info event; newer
old; viejo; s; vieux/vieille; b; person animal thing place; older
young; joven/jóvenes; s; jeune/jeune; b; person animal; younger
good; bueno; s; bon/bonne; b; person food drink info event; better
bad; malo; s; mauvais/mauvaise; b; info event
beautiful; hermoso; s; beau/belle; b; person animal thing place; more beautiful
pretty; bonito; s; joli/jolie; b; thing place; prettier
long; largo; s; long/longue; b; info event; longer
short; corto; s; court/courte; a; info event; shorter
red; rojo; s; rouge/rouge; a; thing
green; verde; s; vert/verte; a; thing
black; negro; s; noir/noire; a; thing animal
white; blanco; s; blanc/blanche; a; thing animal
blue; azul; s; bleu/bleue; a; thing
yellow; amarillo; s; jaune/jaune; a; thing
gray; gris; s; gris/grise; a; thing animal
brown; marrón; s; brun/brune; a; thing animal
tall; alto; s; grand/grande; b; person; taller
strong; fuerte; s; fort/forte; a; person animal; stronger
intelligent; inteligente; s; intelligent/intelligente; a; person animal; more intelligent
friendly; amable; s; aimable/aimable; a; person; friendlier
famous; famoso; s; célèbre/célèbre; a; person place; more famous
rich; rico; s; riche/riche; a; person; richer
poor; pobre; s; pauvre/pauvre; a; person; poorer
brave; valiente; s; courageux/courageuse; a; person; braver
happy; feliz; s; heureux/heureuse; a; person; happier
funny; gracioso; s; drôle/drôle; a; person info; funnier
serious; serio; s; sérieux/sérieuse; a; person info
lazy; perezoso; s; paresseux/paresseuse; a; person animal
patient; paciente; s; patient/patiente; a; person
sad; triste; e; triste/triste; a; person
tired; cansado; e; fatigué/fatiguée; a; person animal
sick; enfermo; e; malade/malade; a; person animal
angry; enfadado; e; fâché/fâchée; a; person
worried; preocupado; e; inquiet/inquiète; a; person
busy; ocupado; e; occupé/occupée; a; person
ready; listo; e; prêt/prête; a; person
dirty; sucio; e; sale/sale; a; thing place; dirtier
clean; limpio; e; propre/propre; a; thing place; cleaner
empty; vacío; e; vide/vide; a; place
full; lleno; e; plein/pleine; a; place
broken; roto; e; cassé/cassée; a; thing
open; abierto; e; ouvert/ouverte; a; place
closed; cerrado; e; fermé/fermée; a; place
expensive; caro; s; cher/chère; a; thing food drink event; more expensive
cheap; barato; s; bon marché/bon marché; a; thing food drink; cheaper
heavy; pesado; s; lourd/lourde; a; thing; heavier
light; ligero; s; léger/légère; a; thing; lighter
strange; extraño; s; étrange/étrange; a; person thing place info; stranger
important; importante; s; important/importante; a; person info event; more important
interesting; interesante; s; intéressant/intéressante; a; person info event place; more interesting
boring; aburrido; s; ennuyeux/ennuyeuse; a; info event
perfect; perfecto; s; parfait/parfaite; a; info event place
difficult; difícil; s; difficile/difficile; a; info event; more difficult
easy; fácil; s; facile/facile; a; info event; easier
simple; sencillo; s; simple/simple; a; info; simpler
useful; útil; s; utile/utile; a; thing info; more useful
dangerous; peligroso; s; dangereux/dangereuse; a; animal place; more dangerous
modern; moderno; s; moderne/moderne; a; thing place; more modern
quiet; tranquilo; s; calme/calme; a; person place; quieter
popular; popular; s; populaire/populaire; a; person place info; more popular
fresh; fresco; s; frais/fraîche; a; food
sweet; dulce; s; sucré/sucrée; a; food; sweeter
hot; caliente; e; chaud/chaude; a; food drink; hotter
cold; frío; e; froid/froide; a; food drink; colder
delicious; delicioso; s; délicieux/délicieuse; a; food drink
wonderful; maravilloso; s; merveilleux/merveilleuse; a; place info event
terrible; terrible; s; terrible/terrible; a; info event
"""

# english[/3rd person/past/-ing]; spanish (see spanish.py); french (see french.py); kinds of nouns that can be the object
VERBS = """
see/sees/saw/seeing; ver yo=veo past=vi,viste,vio,vimos,vieron; voir vu vois voit voyons voyez voient; person animal thing place
buy/buys/bought; comprar; acheter stem=achèt; thing food drink
sell/sells/sold; vender; vendre; thing food drink
find/finds/found; encontrar ue; trouver; person animal thing info
want/wants/wanted; querer ie state; vouloir voulu veux veut voulons voulez veulent; thing food drink info abstract
need/needs/needed; necesitar state; avoir_besoin eu_besoin ai_besoin a_besoin avons_besoin avez_besoin ont_besoin de; person thing info abstract
take/takes/took/taking; tomar; prendre pris prends prend prenons prenez prennent; carry vehicle food drink
clean/cleans/cleaned; limpiar; nettoyer; thing place
draw/draws/drew; dibujar; dessiner; animal thing place
bring/brings/brought; traer yo=traigo past=traj gerund=trayendo; apporter; carry food drink
lose/loses/lost/losing; perder ie; perdre; carry
forget/forgets/forgot/forgetting; olvidar; oublier; carry info
prepare/prepares/prepared/preparing; preparar; préparer; cook prepare
look for/looks for/looked for/looking for; buscar; chercher; person animal thing place
love/loves/loved/loving; amar state; aimer; person animal place
hate/hates/hated/hating; odiar state; détester; animal food drink event
break/breaks/broke; romper; casser; carry machine
repair; reparar; réparer; machine vehicle
hide/hides/hid/hiding; esconder; cacher; carry
show/shows/showed; mostrar ue; montrer; carry place info
describe/describes/described/describing; describir; décrire décrit décris décrit décrivons décrivez décrivent; person animal thing place
choose/chooses/chose/choosing; elegir i yo=elijo; choisir; carry food info
share/shares/shared/sharing; compartir; partager; food drink info
watch/watches/watched; mirar; regarder; person animal
open; abrir; ouvrir ouvert ouvre ouvre ouvrons ouvrez ouvrent; open
close/closes/closed/closing; cerrar ie; fermer; open
read/reads/read; leer past=leí,leíste,leyó,leímos,leyeron gerund=leyendo; lire lu lis lit lisons lisez lisent; read
write/writes/wrote/writing; escribir; écrire écrit écris écrit écrivons écrivez écrivent; write
eat/eats/ate; comer; manger; food
drink/drinks/drank; beber; boire bu bois boit buvons buvez boivent; drink
cook; cocinar; cuisiner; cook-food
call; llamar; appeler stem=appell; person
help; ayudar; aider; person
meet/meets/met; conocer yo=conozco; rencontrer; person
know/knows/knew; conocer yo=conozco state; connaître connu connais connaît connaissons connaissez connaissent; person place
invite/invites/invited/inviting; invitar; inviter; person
visit; visitar; visiter; place
wait for/waits for/waited for/waiting for; esperar; attendre; person vehicle
listen to/listens to/listened to/listening to; escuchar; écouter; person
carry/carries/carried/carrying; llevar; porter; carry
wear/wears/wore; llevar; porter; wear
use/uses/used/using; usar; utiliser; carry machine
wash/washes/washed; lavar; laver; wear vehicle
move/moves/moved/moving; mover ue; déplacer; seat carry
keep/keeps/kept; guardar; garder; carry info
receive/receives/received/receiving; recibir; recevoir reçu reçois reçoit recevons recevez reçoivent; carry info abstract
explain; explicar; expliquer; explain
understand/understands/understood; entender ie; comprendre compris comprends comprend comprenons comprenez comprennent; explain
accept; aceptar; accepter; info
change/changes/changed/changing; cambiar; changer; info
paint; pintar; peindre peint peins peint peignons peignez peignent; seat fixed place
build/builds/built; construir present=construyo,construyes,construye,construimos,construyen past=construí,construiste,construyó,construimos,construyeron gerund=construyendo; construire construit construis construit construisons construisez construisent; place
follow; seguir i yo=sigo; suivre suivi suis suit suivons suivez suivent; person animal vehicle
pay for/pays for/paid for/paying for; pagar; payer; thing food drink
have/has/had/having; tener ie yo=tengo past=tuv state; avoir eu ai a avons avez ont; kin animal thing info abstract
"""

# Verbs without an object. english; spanish; french, with etre for the auxiliary être.
INTRANSITIVE = """
sleep/sleeps/slept; dormir ue; dormir dormi dors dort dormons dormez dorment
work; trabajar; travailler
sing/sings/sang; cantar; chanter
dance/dances/danced/dancing; bailar; danser
swim/swims/swam/swimming; nadar; nager
run/runs/ran/running; correr; courir couru cours court courons courez courent
walk; caminar; marcher
travel/travels/traveled/traveling; viajar; voyager
wait; esperar; attendre
study/studies/studied/studying; estudiar; étudier
rest; descansar; se_reposer
live/lives/lived/living; vivir state; vivre vécu vis vit vivons vivez vivent
eat/eats/ate; comer; manger
talk; hablar; parler
play; jugar ue; jouer
stay; quedarse; rester etre
cry/cries/cried/crying; llorar; pleurer
"""

# Verbs of motion to a place.
# english; spanish; french; spanish preposition; french preposition; english preposition
MOTION = """
go/goes/went; ir present=voy,vas,va,vamos,van past=fui,fuiste,fue,fuimos,fueron gerund=yendo; aller allé vais va allons allez vont etre; a; à; to
come/comes/came/coming; venir ie yo=vengo past=vin; venir venu viens vient venons venez viennent etre; a; à; to
return; volver ue; revenir revenu reviens revient revenons revenez reviennent etre; a; à; to
walk; caminar; marcher; hasta; jusqu'à; to
run/runs/ran/running; correr; courir couru cours court courons courez courent; hasta; jusqu'à; to
drive/drives/drove/driving; conducir yo=conduzco past=conduj; rouler; hasta; jusqu'à; to
"""

DAILY = """
wake up/wakes up/woke up/waking up; despertarse ie; se_réveiller
get up/gets up/got up/getting up; levantarse; se_lever stem=lèv
go to bed/goes to bed/went to bed/going to bed; acostarse ue; se_coucher
have breakfast/has breakfast/had breakfast/having breakfast; desayunar; prendre_le_petit_déjeuner pris_le_petit_déjeuner prends_le_petit_déjeuner prend_le_petit_déjeuner prenons_le_petit_déjeuner prenez_le_petit_déjeuner prennent_le_petit_déjeuner
have dinner/has dinner/had dinner/having dinner; cenar; dîner
start work/starts work/started work/starting work; empezar_a_trabajar ie; commencer_à_travailler
come home/comes home/came home/coming home; volver_a_casa ue; rentrer_à_la_maison etre
leave/leaves/left/leaving; salir yo=salgo; partir parti pars part partons partez partent etre
arrive/arrives/arrived/arriving; llegar; arriver etre
"""

GIVING = """
give/gives/gave/giving; dar yo=doy past=di,diste,dio,dimos,dieron; donner; carry
show/shows/showed; mostrar ue; montrer; carry
send/sends/sent; enviar present=envío,envías,envía,enviamos,envían; envoyer stem=envoi; carry
sell/sells/sold; vender; vendre; carry
bring/brings/brought; traer yo=traigo past=traj gerund=trayendo; apporter; carry
explain; explicar; expliquer; explain
read/reads/read; leer past=leí,leíste,leyó,leímos,leyeron gerund=leyendo; lire lu lis lit lisons lisez lisent; read
"""

# english; Spanish (m/f); French (m/f)
PROFESSIONS = """
teacher; profesor/profesora; professeur/professeure
doctor; médico/médica; médecin/médecin
nurse; enfermero/enfermera; infirmier/infirmière
student; estudiante/estudiante; étudiant/étudiante
lawyer; abogado/abogada; avocat/avocate
artist; artista/artista; artiste/artiste
engineer; ingeniero/ingeniera; ingénieur/ingénieure
journalist; periodista/periodista; journaliste/journaliste
writer; escritor/escritora; écrivain/écrivaine
singer; cantante/cantante; chanteur/chanteuse
baker; panadero/panadera; boulanger/boulangère
farmer; agricultor/agricultora; agriculteur/agricultrice
waiter; camarero/camarera; serveur/serveuse
driver; conductor/conductora; conducteur/conductrice
pilot; piloto/piloto; pilote/pilote
"""

WOMEN = "Anna Maria Sarah Emma Lucy Alice Sophie Laura Julia Clara Nina Helen Linda Rosa Karen".split()
MEN = "Tom John Peter David James Michael Daniel Robert Henry Oliver Frank George Paul Martin Simon".split()

CITIES = """
London; Londres; Londres
Paris; París; Paris
Berlin; Berlín; Berlin
Madrid; Madrid; Madrid
Rome; Roma; Rome
Boston; Boston; Boston
Chicago; Chicago; Chicago
Dublin; Dublín; Dublin
Vienna; Viena; Vienne
Tokyo; Tokio; Tokyo
Lisbon; Lisboa; Lisbonne
Oslo; Oslo; Oslo
Toronto; Toronto; Toronto
Geneva; Ginebra; Genève
Milan; Milán; Milan
Sydney; Sídney; Sydney
Prague; Praga; Prague
Athens; Atenas; Athènes
"""

LANGUAGES = """
English; inglés; anglais
French; francés; français
Spanish; español; espagnol
German; alemán; allemand
Italian; italiano; italien
Chinese; chino; chinois
"""

SUBJECTS_TAUGHT = """
music; música; la musique
history; historia; l'histoire
art; arte; l'art
science; ciencias; les sciences
football; el fútbol; le football
tennis; el tenis; le tennis
"""

DAYS = """
Monday; lunes; lundi
Tuesday; martes; mardi
Wednesday; miércoles; mercredi
Thursday; jueves; jeudi
Friday; viernes; vendredi
Saturday; sábado; samedi
Sunday; domingo; dimanche
"""

MONTHS = """
January; enero; janvier
February; febrero; février
March; marzo; mars
April; abril; avril
May; mayo; mai
June; junio; juin
July; julio; juillet
August; agosto; août
September; septiembre; septembre
October; octubre; octobre
November; noviembre; novembre
December; diciembre; décembre
"""

SEASONS = """
spring; primavera; au printemps
summer; verano; en été
autumn; otoño; en automne
winter; invierno; en hiver
"""


def rows(table: str) -> list[list[str]]:
    """Returns the fields of a table's lines."""
    return [[field.strip() for field in line.split(";")] for line in table.strip().split("\n")]
