import { setPriority } from 'node:os'
import { createWorkerPool } from './worker-pool.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { EngineRole, Reply, Request, Task } from './messages.ts'

/**
 * The engine's child process. Its main thread only passes messages; inference blocks the thread that it runs on, so it
 * runs in worker threads. Nothing in it needs saving, so it ends as abruptly as it may: a tidy exit would wait for
 * whatever native code is running.
 */
const die = (reason: string): void => {
  process.stderr.write(`${reason}\n`, () => process.kill(process.pid, 'SIGKILL'))
}

const reply = (message: Reply): void => {
  process.send?.(message)
}

interface Pools {
  readonly models: WorkerPool
  readonly voiceActivity: WorkerPool
}

const WORKERS: Readonly<Record<EngineRole, URL>> = {
  speech: new URL('./transcription-worker.ts', import.meta.url),
  translation: new URL('./translation-worker.ts', import.meta.url),
}
/** Translations get the processor time that speech leaves, and a little when it leaves none. */
const NICENESS: Readonly<Record<EngineRole, number>> = { speech: 0, translation: 5 }

const createPools = (role: EngineRole, models: ReadonlyMap<string, string>, workers: number): Pools => ({
  models: createWorkerPool({ script: WORKERS[role], size: workers, workerData: { models }, onDeath: die }),
  voiceActivity: createWorkerPool({ script: new URL('./vad-worker.ts', import.meta.url), size: 1, workerData: null, onDeath: die }),
})

/** A task that is done sooner is not said to have begun: that message would cost as much as its outcome's. */
const NOTICE_MS = 20

const perform = async (pools: Pools, id: number, task: Task): Promise<void> => {
  const pool = task.kind === 'detect' ? pools.voiceActivity : pools.models
  let notice: NodeJS.Timeout | undefined
  const outcome = await pool.run(task, (loads) => {
    notice = setTimeout(() => reply({ kind: 'began', id, loads }), NOTICE_MS)
  })
  clearTimeout(notice)
  reply({ kind: 'outcome', id, outcome })
}

const serve = (role: EngineRole): void => {
  // Threads inherit it from the one that starts them.
  if (NICENESS[role] > 0) setPriority(NICENESS[role])
  let pools: Pools | null = null
  process.on('message', (request: Request) => {
    switch (request.kind) {
      case 'configure':
        pools = createPools(role, request.models, request.workers)
        return
      case 'task':
        if (pools === null) die('a task came before the configuration')
        else void perform(pools, request.id, request.task)
    }
  })
  // A terminal or a service manager signals the whole group; the parent flushes its lives first and then ends us.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => die('the service is gone'))
  reply({ kind: 'ready' })
}

serve(process.argv[2] === 'translation' ? 'translation' : 'speech')
