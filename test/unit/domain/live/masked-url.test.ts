import test from 'ava'
import { maskedUrl } from '../../../../domain/live/masked-url.ts'

test('passwords, keys and stream keys of an audio URL are masked, the rest is shown', (t) => {
  for (const [url, masked] of [
    ['https://media.example:8443/live/a.m3u8', 'https://media.example:8443/live/a.m3u8'],
    ['rtsp://camera:pass@cams.example/stream?key=k1&x=2#part', 'rtsp://***@cams.example/stream?key=***&x=***'],
    ['https://token@media.example/a?a=1&a=2', 'https://***@media.example/a?a=***'],
    ['rtmp://media.example/app/stream-key', 'rtmp://media.example/app/***'],
    ['rtmps://media.example/app/name/stream-key/', 'rtmps://media.example/app/name/***'],
    ['rtmp://media.example/app', 'rtmp://media.example/app'],
    ['no url', '***'],
  ] as const) t.is(maskedUrl(url), masked)
})
