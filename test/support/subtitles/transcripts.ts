/** What people say in nine languages: one phrase after another, each spoken without a long pause. */
export const TRANSCRIPTS: ReadonlyArray<{ readonly language: string; readonly phrases: ReadonlyArray<string> }> = [
  { language: 'en', phrases: [
    'Good morning, everybody. Before we begin, please switch off your phones, take a seat near the front, and '
      + 'make sure that you can see the screen.',
    'The minutes of the last meeting were sent round on Monday; if nobody objects, we will take them as read. '
      + 'Yes.',
    'Thank you.',
  ] },
  { language: 'en', phrases: [
    'When the river rose for the third time that winter the people who lived along the lower bank moved their '
      + 'furniture to the upper floor and waited for the boats that the council had promised them the week before',
    'Nobody came.',
  ] },
  { language: 'en', phrases: [
    'Dr. Ellis measured the current at 3.5 amperes, which is well below the limit of 10. She then repeated the '
      + 'test with a second battery (an older one), and found the same value.',
    'So what does this mean? It means the cable was never the problem; it was the plug.',
  ] },
  { language: 'en', phrases: [
    'Stop. Wait for me at the corner, I only need to lock the door and find my umbrella, then we can walk to '
      + 'the station together. Really?',
    'Our flight leaves at half past six tomorrow morning from the new terminal.',
  ] },
  { language: 'de', phrases: [
    'Meine Damen und Herren, ich begrüße Sie herzlich zur Hauptversammlung. Bevor wir zur Tagesordnung kommen, '
      + 'möchte ich auf die Notausgänge hinweisen, die sich links und rechts der Bühne befinden.',
    'Am 3. Mai haben wir das neue Werk eröffnet, und schon im ersten Monat wurden die Erwartungen übertroffen.'
,
  ] },
  { language: 'de', phrases: [
    'Die Straßenbahnhaltestelle am Stadttheater wird wegen Bauarbeiten an der Oberleitung bis auf Weiteres '
      + 'nicht bedient und die Fahrgäste werden gebeten die Ersatzbusse zu benutzen',
    'Vielen Dank für Ihr Verständnis.',
  ] },
  { language: 'de', phrases: [
    'Er sagte: „Das geht so nicht weiter.“ Danach war es lange still, bis jemand das Fenster öffnete und der '
      + 'Lärm der Straße hereinkam. Gut.',
  ] },
  { language: 'fr', phrases: [
    'Bonjour à tous ! Est-ce que vous m’entendez bien au fond de la salle ? Si ce n’est pas le cas, faites-moi '
      + 'signe et je parlerai plus fort.',
    'Nous avons choisi le titre « Les jardins du nord » parce que tout le monde s’en souvient ; le reste est '
      + 'venu après.',
  ] },
  { language: 'fr', phrases: [
    'Depuis que la gare a été rénovée les voyageurs trouvent enfin des bancs à l’ombre, des fontaines et un '
      + 'café qui ouvre avant le premier train, ce que personne n’avait osé espérer.',
  ] },
  { language: 'es', phrases: [
    '¿Qué hacemos ahora? Podemos esperar aquí hasta que pase la tormenta, o bajar despacio por el camino '
      + 'viejo, que está mejor protegido del viento.',
    '¡Cuidado! La piedra está mojada.',
  ] },
  { language: 'es', phrases: [
    'El ayuntamiento ha decidido plantar quinientos árboles en las avenidas del sur porque los veranos son '
      + 'cada vez más largos y los vecinos necesitan sombra para caminar hasta la escuela y el mercado.',
  ] },
  { language: 'it', phrases: [
    'Buonasera e benvenuti. Stasera parliamo di pane: di come si impasta, di quanto deve riposare, e del '
      + 'perché quello di ieri è spesso più buono di quello di oggi.',
    'Proviamo.',
  ] },
  { language: 'it', phrases: [
    'Quando il traghetto lasciò il porto tutti si affacciarono alla ringhiera, salutarono con la mano e '
      + 'restarono a guardare le luci della città finché non sparirono dietro il promontorio.',
  ] },
  { language: 'pt', phrases: [
    'Boa tarde. A reunião de hoje é curta: primeiro vemos as contas do trimestre, depois escolhemos a data da '
      + 'mudança, e no fim respondo às vossas perguntas.',
    'Alguém quer começar? Não.',
  ] },
  { language: 'pt', phrases: [
    'O barco atravessa a baía de hora em hora e leva quarenta pessoas, mas nos dias de festa forma-se uma fila '
      + 'tão comprida que muitos preferem dar a volta de autocarro pela ponte nova.',
  ] },
  { language: 'ja', phrases: [
    '皆さん、おはようございます。本日はお忙しいところお集まりいただき、ありがとうございます。まず、会場の案内をいたします。出口は左右に二つあります。',
    '彼は「もう時間がない」と言って、地図を広げ、川沿いの道を指でなぞった。',
  ] },
  { language: 'ja', phrases: [
    '新しい図書館は駅から歩いて五分のところにあり、朝九時から夜八時まで開いています。コーヒーを飲みながら、ゆっくり本を読むことができます。',
  ] },
  { language: 'zh', phrases: [
    '各位来宾，大家早上好。欢迎参加今天的讨论会，我们先介绍一下日程安排，然后请三位老师发言，最后留出半个小时回答大家的问题。',
    '他说：“这条路去年就修好了。”我们却从来没有走过。',
  ] },
  { language: 'zh', phrases: [
    '这座桥全长一千二百米，连接老城区和新的工业园，预计明年春天通车，到那时候从火车站到机场只需要二十五分钟。',
  ] },
  { language: 'th', phrases: [
    'สวัสดีครับทุกท่าน วันนี้เราจะพูดถึงระบบขนส่งของมหาวิทยาลัย ซึ่งเปิดให้บริการตั้งแต่หกโมงเช้าถึงสี่ทุ่ม '
      + 'นักศึกษาสามารถใช้บัตรประจำตัวขึ้นรถได้โดยไม่เสียค่าใช้จ่าย',
  ] },
]
