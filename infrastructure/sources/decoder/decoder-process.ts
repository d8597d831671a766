import { createByteQueue } from './byte-queue.ts'
import { decode } from './decode.ts'
import { REFUSED } from '../isolation/refused.ts'
import { pieceOf } from './timed-pcm.ts'
import type { TimedPcm } from './timed-pcm.ts'

/**
 * The decoder of one stretch of a source: container bytes on stdin, timed samples on stdout; it knows no URL. With
 * the word `isolated` it can open nothing from before its first byte on, or ends with exit code 3 and says why. Says on
 * stderr that it is up, and what it reads. Exit code 0 at the end of the bytes, 1 when they are not audio.
 */
const QUEUE = 512 * 1024

const words = new Set(process.argv.slice(2))
const { stdin, stdout, stderr } = process

/** Also while native code reads: an ordinary exit would wait for it. */
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

/** Ends the process, by a way that is still open. */
let leave = (code: number): void => process.exit(code)

const isolate = async (): Promise<void> => {
  try {
    const { confine } = await import('../isolation/confine.ts')
    leave = confine()
  } catch (error) {
    stderr.write(`refused ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(REFUSED)
  }
}

const write = async (audio: TimedPcm): Promise<void> => {
  if (audio.pcm.length === 0 || stdout.write(pieceOf(audio))) return
  await new Promise<void>((resolve) => stdout.once('drain', resolve))
}

const queue = createByteQueue(QUEUE)

const feed = async (): Promise<void> => {
  for await (const bytes of stdin as AsyncIterable<Buffer>) await queue.push(bytes)
  queue.finish()
}

stdout.on('error', die)
// A terminal signals everybody; whoever started us says when we end.
process.on('SIGINT', () => undefined)
if (words.has('isolated')) await isolate()
stderr.write('up\n')
feed().catch(die)
const opened = (format: string): void => void stderr.write(`format ${format}\n`)
decode({ read: queue.read, write, stream: words.has('stream'), opened }).then(
  () => stdout.write('', () => leave(0)),
  () => stdout.write('', () => leave(1)),
)
