import { getPriority, setPriority } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { createVoiceActivity } from '../voice-activity.ts'
import { chooseProvider } from '../providers/execution-provider.ts'
import type { ProviderChoice } from '../providers/execution-provider.ts'
import { createLanes } from './lanes.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { EngineRole, Reply, Request, Task } from './messages.ts'

/**
 * The engine's child process. Inference blocks the thread that it runs on, so it runs in worker threads; but speech is
 * detected on the main thread, for a frame takes a tenth of a millisecond, and to ask another thread costs more. Nothing in
 * it needs saving, so it ends as abruptly as it may: a tidy exit would wait for whatever native code is running.
 */
const die = (reason: string): void => {
  // Not SIGKILL, which tells our client that memory ran out.
  process.stderr.write(`${reason}\n`, () => process.kill(process.pid, 'SIGUSR2'))
}

const warn = (line: string): void => void process.stderr.write(`${line}\n`)

const reply = (message: Reply): void => {
  process.send?.(message)
}

const WORKERS: Readonly<Record<EngineRole, URL>> = {
  speech: new URL('./transcription-worker.ts', import.meta.url),
  translation: new URL('./translation-worker.ts', import.meta.url),
}
/** Translations get the processor time that speech leaves, and a little when it leaves none: on top of how nice the service is. */
const LOWEST = 19
const NICENESS: Readonly<Record<EngineRole, number>> = { speech: 0, translation: 5 }

/** Texts to translate are short and come once a phrase, after everything else: the CPU is enough. */
const ON_CPU: ProviderChoice = { provider: 'cpu', why: 'translators run there' }

const serve = async (role: EngineRole, gpu: string | undefined): Promise<void> => {
  // Threads inherit it from the one that starts them.
  if (NICENESS[role] > 0) setPriority(Math.min(LOWEST, getPriority() + NICENESS[role]))
  const detectSpeech = createVoiceActivity()
  let choice = ON_CPU
  let pool: WorkerPool | null = null
  const callOffs = new Map<number, AbortController>()
  const perform = async (models: WorkerPool, id: number, task: Task): Promise<void> => {
    const callOff = new AbortController()
    callOffs.set(id, callOff)
    const outcome =
      task.kind === 'detect'
        ? await detectSpeech(task.samples, task.state).then(E.right, (error: unknown) => E.left({ _tag: 'JobFailed' as const, reason: messageOf(error) }))
        : await models.run(task, (loads) => reply({ kind: 'began', id, loads }), callOff.signal)
    callOffs.delete(id)
    reply({ kind: 'outcome', id, outcome })
  }
  process.on('message', (request: Request) => {
    switch (request.kind) {
      case 'configure':
        pool = createLanes({ script: WORKERS[role], workers: request.workers, provider: choice.provider, onDeath: die, warn })
        return
      case 'task':
        if (pool === null) die('a task came before the configuration')
        else void perform(pool, request.id, request.task)
        return
      case 'callOff':
        callOffs.get(request.id)?.abort()
    }
  })
  // A terminal or a service manager signals the whole group; the parent flushes its lives first and then ends us.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => die('the service is gone'))
  if (role === 'speech') choice = await chooseProvider(undefined, gpu)
  reply({ kind: 'ready', choice })
}

void serve(process.argv[2] === 'translation' ? 'translation' : 'speech', process.argv[3])
