import test from 'ava'
import { looksLikePlaylist, parsePlaylist } from '../../../../../infrastructure/sources/http/hls-playlist.ts'
import { audioPlaylists } from '../../../../../infrastructure/sources/http/hls-renditions.ts'

const ADDRESS = new URL('http://radio.example/live/index.m3u8')

test('a media playlist: byte ranges continue; keys, maps and discontinuities apply to their segments', (t) => {
  const playlist = parsePlaylist(
    [
      '\uFEFF#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-TARGETDURATION:6',
      '#EXT-X-MEDIA-SEQUENCE:41',
      '#EXT-X-MAP:URI="init.mp4",BYTERANGE="100@20"',
      '#EXT-X-KEY:METHOD=AES-128,URI="k,1.key",IV=0x0A',
      '#EXTINF:5.5,title, with comma',
      '#EXT-X-BYTERANGE:1000@120',
      'all.mp4',
      '',
      '#EXTINF:6',
      '#EXT-X-BYTERANGE:500',
      'all.mp4',
      '#EXT-X-KEY:METHOD=NONE',
      '#EXT-X-DISCONTINUITY',
      '#EXTINF:3,',
      'other.mp4',
      '#EXT-X-ENDLIST',
    ].join('\r\n'),
    ADDRESS,
  )
  if (playlist.kind !== 'media') return t.fail('it is a media playlist')
  t.like(playlist, { targetDuration: 6, ended: true })
  t.deepEqual(
    playlist.segments.map(({ sequence, uri, duration, discontinuity }) => [sequence, uri, duration, discontinuity]),
    [
      [41, 'all.mp4', 5.5, false],
      [42, 'all.mp4', 6, false],
      [43, 'other.mp4', 3, true],
    ],
  )
  t.deepEqual(
    playlist.segments.map(({ range }) => range),
    [{ offset: 120, length: 1000 }, { offset: 1120, length: 500 }, null],
  )
  t.deepEqual(playlist.segments.map(({ key }) => key?.uri), ['k,1.key', 'k,1.key', undefined])
  t.is(playlist.segments[0]?.key?.iv?.toString('hex'), '0000000000000000000000000000000a')
  t.deepEqual(playlist.segments[2]?.map, { uri: 'init.mp4', range: { offset: 20, length: 100 } })
})

/** The URIs of a master playlist in the order in which they are tried. `media`: its audio renditions. */
const triedOf = (media: ReadonlyArray<string>, variants: ReadonlyArray<string>, language: string | null = null) => {
  const lines = [...media.map((attributes) => `#EXT-X-MEDIA:TYPE=AUDIO,${attributes}`), ...variants]
  const playlist = parsePlaylist(`#EXTM3U\n${lines.join('\n')}\n`, ADDRESS)
  return playlist.kind === 'master' ? audioPlaylists(playlist, language) : []
}

const variantOf = (uri: string, attributes: string): string => `#EXT-X-STREAM-INF:${attributes}\n${uri}`

test('the rendition comes first, also where the audio is in the variant itself, which has no address', (t) => {
  const small = variantOf('small', 'BANDWIDTH=1,AUDIO="a"')
  const [muxed, other] = ['GROUP-ID="a",NAME="x",DEFAULT=YES', 'GROUP-ID="a",NAME="y",URI="other"']
  t.deepEqual(triedOf([muxed, other], [small]), ['small'])
  t.deepEqual(triedOf([other, muxed], [small]), ['small'])
  t.deepEqual(triedOf([other, `${other},URI="default",DEFAULT=YES`], [small]), ['default'])
  t.deepEqual(triedOf([other], [small]), ['other'])
  t.deepEqual(triedOf([], [small]), ['small'])
})

test('the rendition is in the language of the session, else the default, else automatic, else the first', (t) => {
  const small = variantOf('small', 'BANDWIDTH=1,AUDIO="a"')
  const media = (name: string, attributes: string): string => `GROUP-ID="a",NAME="${name}",URI="${name}"${attributes}`
  const english = media('english', ',LANGUAGE="eng",DEFAULT=YES,AUTOSELECT=YES')
  const french = media('french', ',LANGUAGE="fr-CA",AUTOSELECT=YES')
  const comment = media('comment', ',LANGUAGE="fr"')
  for (const [renditions, language, expected] of [
    [[english, comment, french], 'fr', 'french'],
    [[french, english, comment], 'en', 'english'],
    [[french, comment, english], 'de', 'english'],
    [[french, comment, english], 'auto', 'english'],
    [[french, english, comment], null, 'english'],
    [[comment, french], 'de', 'french'],
    [[comment, media('last', '')], 'fr', 'comment'],
    [[media('strange', ',LANGUAGE="x-?",AUTOSELECT=YES'), english], 'en', 'english'],
  ] as const)
    t.deepEqual(triedOf(renditions, [small], language), [expected], `${language}: ${renditions.join('; ')}`)
})

test('variants whose codecs are only pictures are left out, backups follow in the order of their bandwidth', (t) => {
  const [picture, sound] = ['CODECS="avc1.4d401e"', 'CODECS="avc1.4d401e,mp4a.40.2"']
  const variants = [
    variantOf('picture', `BANDWIDTH=1,${picture}`), variantOf('big', `BANDWIDTH=9,${sound}`),
    variantOf('first', `BANDWIDTH=5,${sound}`), variantOf('backup', `BANDWIDTH=5,${sound}`),
    variantOf('unknown', 'BANDWIDTH=7'),
  ]
  t.deepEqual(triedOf([], variants), ['first', 'backup', 'unknown', 'big'])
  t.deepEqual(triedOf([], variants.slice(0, 1)), ['picture'], 'CODECS may be wrong')
  const beside = variantOf('video', `BANDWIDTH=1,${picture},AUDIO="a"`)
  t.deepEqual(triedOf(['GROUP-ID="a",NAME="x",URI="sound"'], [beside, ...variants]).slice(0, 2), ['sound', 'first'])
  const many = Array.from({ length: 99 }, (_, index) => variantOf(`${index}`, 'BANDWIDTH=1'))
  t.is(triedOf([], many).length, 5)
})

test('variables are replaced: defined, imported from the master playlist, or from the address', (t) => {
  const master = parsePlaylist(
    '#EXTM3U\n#EXT-X-DEFINE:NAME="host",VALUE="cdn.example"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://{$host}/a\n',
    ADDRESS,
  )
  if (master.kind === 'media') return t.fail('it is a master playlist')
  t.is(master.variants[0]?.uri, 'https://cdn.example/a')
  const text = [
    '#EXTM3U', '#EXT-X-DEFINE:IMPORT="host"', '#EXT-X-DEFINE:QUERYPARAM="token"',
    '#EXT-X-DEFINE:NAME="a",VALUE="{$host}/x"', '#EXT-X-TARGETDURATION:1', '#EXT-X-MAP:URI="{$a}/init"',
    '#EXTINF:1,', '{$a}.ts?t={$token}&u={$unknown}',
  ].join('\n')
  const media = parsePlaylist(text, new URL('http://h/x.m3u8?token=s%20t'), master.variables)
  if (media.kind === 'master') return t.fail('it is a media playlist')
  t.is(media.segments[0]?.uri, 'cdn.example/x.ts?t=s t&u={$unknown}')
  t.is(media.segments[0]?.map?.uri, 'cdn.example/x/init')
})

test('a short playlist cannot become a long one by its variables', (t) => {
  const doubling = Array.from({ length: 40 }, (_, index) =>
    `#EXT-X-DEFINE:NAME="v${index + 1}",VALUE="{$v${index}}{$v${index}}"`)
  const text = ['#EXTM3U', '#EXT-X-DEFINE:NAME="v0",VALUE="0123456789"', ...doubling, '#EXTINF:1,', '{$v40}'].join('\n')
  t.throws(() => parsePlaylist(text, ADDRESS), { message: 'bad_playlist' })
})

test('a text that is not a valid playlist is refused', (t) => {
  for (const text of [
    '',
    'text',
    '#EXTM3',
    '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:-1',
    '#EXTM3U\n#EXTINF:NaN,\na.ts',
    '#EXTM3U\n#EXT-X-KEY:URI="k"',
    '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="k",IV=7',
  ])
    t.throws(() => parsePlaylist(text, ADDRESS), { message: 'bad_playlist' }, text)
  t.true(looksLikePlaylist(Buffer.from('\xef\xbb\xbf#EXTM3U\n', 'latin1')))
  t.false(looksLikePlaylist(Buffer.from('ID3')))
})
