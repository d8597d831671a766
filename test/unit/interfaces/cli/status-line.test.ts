import test from 'ava'
import { createStatusLine } from '../../../../interfaces/cli/status-line.ts'

const terminal = (isTTY: boolean) => {
  const written: Array<string> = []
  return { written, stream: { isTTY, columns: 20, write: (text: unknown) => written.push(String(text)) > 0 } }
}

test('a terminal gets one line that is overwritten, fits the width and is removed at the end', (t) => {
  const { written, stream } = terminal(true)
  let now = 0
  const status = createStatusLine(stream, () => now)
  status.show('hash chain', '1000 rows')
  status.show('hash chain', '2000 rows')
  now = 150
  status.show('hash chain', '3000 rows of many')
  status.show('keys')
  status.clear()
  status.clear()
  t.deepEqual(written, ['hash chain  1000 ro', 'hash chain  3000 ro', 'keys', ''].map((text) => `\r\u001b[K${text}`))
})

test('without a terminal nothing is written', (t) => {
  const { written, stream } = terminal(false)
  const status = createStatusLine(stream)
  status.show('keys')
  status.clear()
  t.deepEqual(written, [])
})
