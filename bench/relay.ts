import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createLiveLinks } from '../infrastructure/process-links/client.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark } from './harness.ts'

const MESSAGES = 3000
const logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Returns a percentile of `times`; `share` is from 0 to 1. */
const percentile = (times: ReadonlyArray<number>, share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN

const report = (side: string, times: ReadonlyArray<number>): void => {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
  console.error(`relay, ${side}: round trip p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`)
}

/** Sends the messages in turn. Each message waits for the return of the message before it. */
const sendInTurn = async (side: string, roundTrip: () => Promise<void>) => {
  const times: Array<number> = []
  const round = await timed(MESSAGES, async () => {
    for (let n = 0; n < MESSAGES; n += 1) {
      const from = performance.now()
      await roundTrip()
      times.push(performance.now() - from)
    }
  })
  report(side, times)
  return round
}

/** Compares a caption line over a link to another process and back with the same bytes over plain TCP. */
export const relay: Benchmark = {
  name: 'relay',
  meaning: `${MESSAGES} caption lines in turn over a link to another process and back; p50 and p99 on stderr`,
  peer: 'the same bytes over bare TCP to the same process and back',
  unit: 'messages',
  basis: 'wall',
  atLeast: null,
  rounds: 5,
  warmUp: true,
  prepare: async () => {
    const masterKey = randomBytes(32)
    const child = fork(new URL('relay-process.ts', import.meta.url), [masterKey.toString('hex')])
    const [{ address, port }] = (await once(child, 'message')) as [{ readonly address: string; readonly port: number }]
    const links = createLiveLinks({ masterKey, logger, timers })
    let answered = (): void => undefined
    const link = links.open({ name: 'peer', incarnation: '1', address }, 1, {
      message: () => answered(),
      closed: (reason) => console.error(`the link closed: ${reason}`),
    })
    const text = JSON.stringify({ type: 'transcription', text: 'x'.repeat(120), start: 1.25, end: 3.5 })
    const bare = connect(port, '127.0.0.1').setNoDelay(true)
    await once(bare, 'connect')
    const bytes = Buffer.from(text)
    return {
      ours: () => sendInTurn('link', () => new Promise((resolve) => {
        answered = () => resolve()
        link.send({ kind: 'text', text })
      })),
      peers: () => sendInTurn('bare TCP', () => new Promise((resolve) => {
        let missingBytes = bytes.byteLength
        const take = (chunk: Buffer): void => {
          missingBytes -= chunk.byteLength
          if (missingBytes > 0) return
          bare.off('data', take)
          resolve()
        }
        bare.on('data', take)
        bare.write(bytes)
      })),
      close: async () => {
        bare.destroy()
        await links.close()
        child.kill()
      },
    }
  },
}
