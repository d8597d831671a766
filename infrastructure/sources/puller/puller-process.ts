import { createInterface } from 'node:readline'
import { startAttempt } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import { isAudio, messageFrame } from './puller-messages.ts'
import type { PullCommand } from './puller-messages.ts'

/**
 * The puller of one live: owns all its sockets, and the decoder as its child. Commands come on stdin, audio and messages
 * go to stdout. It saves nothing, so it ends as abruptly as it may: with its parent, or when that says so.
 */
let attempt: Attempt | null = null
/** The source was heard, and then ended without a word. */
let brokeOff = false

const die = (): void => {
  attempt?.kill()
  process.kill(process.pid, 'SIGKILL')
}

const send = async (frame: Buffer): Promise<void> => {
  if (!process.stdout.write(frame)) await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}

const pull = async (command: PullCommand): Promise<void> => {
  let heard = false
  const listen = (frame: Buffer): Promise<void> => {
    heard ||= isAudio(frame)
    return send(frame)
  }
  attempt = startAttempt(command, listen, brokeOff)
  const end = await attempt.done
  if (heard || end.kind !== 'failed') brokeOff = end.kind === 'failed'
  attempt = null
  await send(messageFrame({ kind: 'ended', end }))
}

process.stdout.on('error', die)
process.on('SIGTERM', die)
// A terminal signals everybody; the parent flushes its lives first and then ends us.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
createInterface({ input: process.stdin })
  .on('line', (line) => void pull(JSON.parse(line) as PullCommand))
  .on('close', die)
