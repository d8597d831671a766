import { createInterface } from 'node:readline'
import { type Attempt, type Past, startAttempt } from './attempt.ts'
import { isAudio, messageFrame, type PullCommand } from './puller-messages.ts'

/*
 * The puller process of one session. It owns all sockets to the source, and its child process is the decoder. It reads
 * commands from stdin and writes audio and messages to stdout. It has nothing to save, so it kills itself with SIGKILL
 * when its parent dies or sends SIGTERM. The decoder ends first, because nobody else waits for it: where the service is
 * process 1 of a container without an init, a decoder without its puller stays in the list of processes for ever.
 */
let attempt: Attempt | null = null
let past: Past = { hadAudio: false, brokeOff: false }

const end = async (): Promise<void> => {
  await attempt?.kill()
  process.kill(process.pid, 'SIGKILL')
}
const die = (): void => void end()

const send = async (frame: Buffer): Promise<void> => {
  if (!process.stdout.write(frame)) await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}

const pull = async (command: PullCommand): Promise<void> => {
  let hasAudio = false
  const sendAttempt = (frame: Buffer): Promise<void> => {
    hasAudio ||= isAudio(frame)
    return send(frame)
  }
  attempt = startAttempt(command, sendAttempt, past)
  const outcome = await attempt.done
  const isAnnounced = outcome.kind === 'complete' || outcome.code === 'stream_over'
  const brokeOff = hasAudio || isAnnounced ? !isAnnounced : past.brokeOff
  past = { hadAudio: past.hadAudio || hasAudio, brokeOff }
  attempt = null
  await send(messageFrame({ kind: 'ended', end: outcome }))
}

process.stdout.on('error', die)
process.on('SIGTERM', die)
process.on('uncaughtException', die)
// A terminal sends these signals to all processes. The parent first finishes its sessions and then ends this process.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
createInterface({ input: process.stdin })
  .on('line', (line) => void pull(JSON.parse(line) as PullCommand))
  .on('close', die)
