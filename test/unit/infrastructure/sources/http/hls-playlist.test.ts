import test from 'ava'
import {
  chooseRendition, looksLikePlaylist, parsePlaylist,
} from '../../../../../infrastructure/sources/http/hls-playlist.ts'

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

test('a master playlist gives the default audio of its smallest variant, else that variant', (t) => {
  const master = (audio: string) =>
    parsePlaylist(
      '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900,AUDIO="hi"\nbig.m3u8\n' +
        `#EXT-X-STREAM-INF:BANDWIDTH=100${audio}\nsmall.m3u8\n` +
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="a",URI="first.m3u8"\n' +
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="b",DEFAULT=YES,URI="default.m3u8"\n' +
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="c",DEFAULT=YES,URI="high.m3u8"\n',
    )
  const chosen = (audio: string): string => {
    const playlist = master(audio)
    return playlist.kind === 'master' ? chooseRendition(playlist) : 'no master'
  }
  t.is(chosen(',AUDIO="lo"'), 'default.m3u8')
  t.is(chosen(''), 'small.m3u8')
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
    t.throws(() => parsePlaylist(text), { message: 'bad_playlist' }, text)
  t.true(looksLikePlaylist(Buffer.from('\xef\xbb\xbf#EXTM3U\n', 'latin1')))
  t.false(looksLikePlaylist(Buffer.from('ID3')))
})
