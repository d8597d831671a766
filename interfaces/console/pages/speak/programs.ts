import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { CreateLiveRequest } from '../../../client/operations.ts'
import { codeBlock } from '../../components/code.ts'
import { tabs } from '../../components/tabs.ts'
import { t } from '../../messages/texts.ts'
import { ROOT } from '../../state/address.ts'
import { view } from '../../ui/tags.ts'

type MakeProgram = (request: CreateLiveRequest) => string

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const curl: MakeProgram = (request) => `export STENOLOG_TOKEN=…   # ${t('api_tokens')}
curl -s ${ROOT}/lives -H "Authorization: Bearer $STENOLOG_TOKEN" \\
  -H 'Content-Type: application/json' -d ${shellQuoted(JSON.stringify(request))}`

const javascript: MakeProgram = (request) => `// node client.mjs < audio.s16le   (16-bit, 16 kHz, mono)
const url = ${JSON.stringify(ROOT)}
const answer = await fetch(url + '/lives', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.STENOLOG_TOKEN}\`, 'Content-Type': 'application/json' },
  body: ${JSON.stringify(JSON.stringify(request))},
})
const { data } = await answer.json()
const socket = new WebSocket(url.replace(/^http/, 'ws') + data.relative_path + '?token=' + data.sender_token)
socket.onopen = () => socket.send('{"type":"config"}')
socket.onmessage = async ({ data: text }) => {
  const frame = JSON.parse(text)
  if (frame.type === 'transcription' && frame.final !== false) console.log(frame.text)
  if (frame.status !== 'started') return
  for await (const bytes of process.stdin) {
    for (let at = 0; at < bytes.length; at += 3200) socket.send(bytes.subarray(at, at + 3200))
    while (socket.bufferedAmount > 65536) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  socket.send('{"type":"FINISH"}')
}
`

const python: MakeProgram = (request) => `# pip install requests websocket-client
# python client.py < audio.s16le   (16-bit, 16 kHz, mono)
import json, os, sys, threading, requests, websocket

URL = ${JSON.stringify(ROOT)}
answer = requests.post(URL + "/lives", headers={"Authorization": "Bearer " + os.environ["STENOLOG_TOKEN"]},
                       json=json.loads(${JSON.stringify(JSON.stringify(request))}))
data = answer.json()["data"]

def send(socket):
    while chunk := sys.stdin.buffer.read(3200):
        socket.send(chunk, websocket.ABNF.OPCODE_BINARY)
    socket.send('{"type":"FINISH"}')

def receive(socket, text):
    frame = json.loads(text)
    if frame.get("status") == "started":
        threading.Thread(target=send, args=[socket], daemon=True).start()
    if frame.get("type") == "transcription" and frame.get("final", True):
        print(frame["text"], flush=True)

websocket.WebSocketApp(URL.replace("http", "ws", 1) + data["relative_path"] + "?token=" + data["sender_token"],
                       on_open=lambda socket: socket.send('{"type":"config"}'), on_message=receive).run_forever()
`

const LANGUAGES = { curl, javascript, python } as const
type Name = keyof typeof LANGUAGES
const NAMES: ReadonlyArray<Name> = ['curl', 'javascript', 'python']

interface ProgramsProps {
  readonly request: CreateLiveRequest
}

const Programs = ({ request }: ProgramsProps): VNode => {
  const open = useSignal<Name>('curl')
  return tabs(
    t('code'), NAMES.map((id) => ({ id, text: t(`code_${id}`) })), open.value, (id) =>
      (open.value = NAMES.find((name) => name === id) ?? 'curl'),
    codeBlock({ text: LANGUAGES[open.value](request), label: t(`code_${open.value}`) }),
  )
}

/** Shows client programs for the chosen session options, to copy. */
export const programs = view(Programs)
