import { createByteQueue } from './byte-queue.ts'
import { decode } from './decode.ts'

/**
 * The decoder of one stretch of a source: container bytes on stdin, s16le 16 kHz mono on stdout; it knows no URL and
 * has, where the system lets it, no network. Says on stderr
 * that it is up, and what it reads. Exit code 0 at the end of the bytes, 1 when they are not audio.
 */
const QUEUE = 512 * 1024

/** Also while native code reads: an ordinary exit would wait for it. */
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

const write = async (pcm: Buffer): Promise<void> => {
  if (pcm.length > 0 && !process.stdout.write(pcm)) await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
}

const queue = createByteQueue(QUEUE)

const feed = async (): Promise<void> => {
  for await (const bytes of process.stdin as AsyncIterable<Buffer>) await queue.push(bytes)
  queue.finish()
}

process.stderr.write('up\n')
process.stdout.on('error', die)
// A terminal signals everybody; whoever started us says when we end.
process.on('SIGINT', () => undefined)
feed().catch(die)
decode({ read: queue.read, write, stream: process.argv[2] === 'stream', opened: (format) => void process.stderr.write(`format ${format}\n`) }).then(
  () => process.stdout.end(() => process.exit(0)),
  () => process.stdout.end(() => process.exit(1)),
)
