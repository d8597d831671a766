// Streams a WAV file (16-bit, 16 kHz, mono) to a running Stenolog in real time and prints the captions as a listener
// sees them. It needs only Node 22 or later.
//   node docs/examples/first-caption.mjs http://127.0.0.1:8080 USERNAME PASSWORD speech.wav
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

const [url, username, password, file] = process.argv.slice(2)

const call = async (path, init) => {
  const response = await fetch(url + path, init)
  const body = await response.json()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body.detail)}`)
  return body
}

const credentials = new URLSearchParams({ username, password })
const { access_token: token } = await call('/login', { method: 'POST', body: credentials })
const { data: live } = await call('/lives', {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'demo-en', language: 'en' }),
})

const socketOf = (secret) => new WebSocket(`${url.replace('http', 'ws')}${live.relative_path}?token=${secret}`)
const listener = socketOf(live.listener_token)
listener.onmessage = ({ data }) => {
  const frame = JSON.parse(data)
  if (frame.type === 'transcription') console.log(frame.final ? '=' : '…', frame.text.replaceAll('\n', ' '))
}

const sender = socketOf(live.sender_token)
sender.onopen = () => sender.send(JSON.stringify({ type: 'config' }))
sender.onmessage = async ({ data }) => {
  const frame = JSON.parse(data)
  if (frame.type === 'error') console.error(frame.code, frame.detail)
  if (frame.status !== 'started') return
  const pcm = (await readFile(file)).subarray(44) // without the header of the WAV file
  const bytesPerMs = 32 // 16,000 samples of 2 bytes per second
  const chunkBytes = 100 * bytesPerMs
  const begin = performance.now()
  for (let at = 0; at < pcm.length; at += chunkBytes) {
    // A microphone delivers a chunk when its last sample is recorded.
    await delay(Math.max(0, begin + (at + chunkBytes) / bytesPerMs - performance.now()))
    sender.send(pcm.subarray(at, at + chunkBytes))
  }
  sender.send(JSON.stringify({ type: 'FINISH' }))
}
