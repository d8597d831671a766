import { createByteQueue } from './byte-queue.ts'
import { decode } from './decode.ts'
import { NOT_ISOLATED_EXIT_CODE } from '../isolation/exit-code.ts'
import { pieceOf, type TimedPcm } from './timed-pcm.ts'

/*
 * The decoder process for one stretch (continuous part) of a source. It reads container bytes from stdin and writes
 * timed samples to stdout. It does not know the URL. With the argument `isolated` it gives up the access to files and
 * sockets before it reads a byte. It writes `up` to stderr when it is ready, and later the format of the bytes, and the
 * time of the first audio that it cannot decode.
 *
 * Exit code 0: end of the bytes. 1: the bytes contain no audio. 3: the isolation failed; stderr contains the reason.
 */
const QUEUE_BYTES = 512 * 1024

const words = new Set(process.argv.slice(2))
const { stdin, stdout, stderr } = process

/** Ends the process at once. An ordinary exit would wait for native code that is reading. */
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

/** Ends the process. An isolated process needs another way, because Node's exit reads files. */
let exit = (code: number): void => process.exit(code)

const isolate = async (): Promise<void> => {
  try {
    const { confine } = await import('../isolation/confine.ts')
    exit = confine()
  } catch (error) {
    stderr.write(`refused ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(NOT_ISOLATED_EXIT_CODE)
  }
}

const write = async (audio: TimedPcm): Promise<void> => {
  if (stdout.write(pieceOf(audio))) return
  await new Promise<void>((resolve) => stdout.once('drain', resolve))
}

const queue = createByteQueue(QUEUE_BYTES)

const feed = async (): Promise<void> => {
  for await (const bytes of stdin as AsyncIterable<Buffer>) await queue.push(bytes)
  queue.finish()
}

stdout.on('error', die)
// A terminal sends these signals to all processes. The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
if (words.has('isolated')) await isolate()
stderr.write('up\n')
feed().catch(die)
decode({
  input: { read: queue.read, stream: words.has('stream') },
  write,
  opened: (format) => void stderr.write(`format ${format}\n`),
  damaged: (seconds) => void stderr.write(`damaged ${seconds.toFixed(2)}\n`),
}).then(
  () => stdout.write('', () => exit(0)),
  () => stdout.write('', () => exit(1)),
)
