import { getPriority, setPriority } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { createVoiceActivity } from '../voice-activity.ts'
import { chooseProvider, type ProviderChoice } from '../providers/execution-provider.ts'
import { createLanes } from './lanes.ts'
import type { EngineRole, Reply, Request, Task } from './messages.ts'

/**
 * This file is the engine's child process. Models run in worker threads, because a run blocks its thread. Speech
 * detection runs on the main thread: a frame takes 0.1 ms, and a message to another thread takes longer.
 *
 * `die` kills the process, because a regular exit would wait for running native code. The process has nothing to save.
 */
const die = (reason: string): void => {
  // SIGKILL would mean to the client that memory ran out.
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
/** Lowest priority of a process on Linux. */
const LOWEST_PRIORITY = 19
/** Added to the priority of the service. Translation gets mostly the processor time that speech leaves. */
const NICENESS: Readonly<Record<EngineRole, number>> = { speech: 0, translation: 5 }

/** The CPU suffices for translators: their texts are short, and come once per phrase. */
const ON_CPU: ProviderChoice = { provider: 'cpu', why: 'translators run on the CPU' }

const failed = (error: unknown) => E.left({ _tag: 'JobFailed' as const, reason: messageOf(error) })

const serve = async (role: EngineRole, gpu: string | undefined): Promise<void> => {
  // Worker threads inherit the priority.
  if (NICENESS[role] > 0) setPriority(Math.min(LOWEST_PRIORITY, getPriority() + NICENESS[role]))
  const detectSpeech = createVoiceActivity()
  // A terminal signals the whole process group. The parent finishes its sessions and then ends this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => die('the service has ended'))
  const choice = role === 'speech' ? await chooseProvider(undefined, gpu) : ON_CPU
  const { provider } = choice
  let threads = 1
  const pool = createLanes({ script: WORKERS[role], workers: () => threads, provider, onDeath: die, warn })
  const cancellations = new Map<number, AbortController>()
  const perform = async (id: number, task: Task): Promise<void> => {
    const cancellation = new AbortController()
    cancellations.set(id, cancellation)
    const outcome =
      task.kind === 'detect'
        ? await detectSpeech(task.samples, task.state).then(E.right, failed)
        : await pool.run(task, (loads) => reply({ kind: 'began', id, loads }), cancellation.signal)
    cancellations.delete(id)
    reply({ kind: 'outcome', id, outcome })
  }
  process.on('message', (request: Request) => {
    switch (request.kind) {
      case 'task':
        threads = request.threads
        void perform(request.id, request.task)
        return
      case 'cancel':
        cancellations.get(request.id)?.abort()
    }
  })
  reply({ kind: 'ready', choice })
}

void serve(process.argv[2] === 'translation' ? 'translation' : 'speech', process.argv[3])
