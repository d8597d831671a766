import { createWorkerPool } from './worker-pool.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { Reply, Request, Task } from './messages.ts'

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
  readonly transcription: WorkerPool
  readonly voiceActivity: WorkerPool
}

const createPools = (models: ReadonlyMap<string, string>, workers: number): Pools => ({
  transcription: createWorkerPool({
    script: new URL('./transcription-worker.ts', import.meta.url),
    size: workers,
    workerData: { models },
    onDeath: die,
  }),
  voiceActivity: createWorkerPool({ script: new URL('./vad-worker.ts', import.meta.url), size: 1, workerData: null, onDeath: die }),
})

const perform = async (pools: Pools, id: number, task: Task): Promise<void> => {
  const pool = task.kind === 'detect' ? pools.voiceActivity : pools.transcription
  const outcome = await pool.run(task, (loads) => reply({ kind: 'began', id, loads }))
  reply({ kind: 'outcome', id, outcome })
}

const serve = (): void => {
  let pools: Pools | null = null
  process.on('message', (request: Request) => {
    switch (request.kind) {
      case 'configure':
        pools = createPools(request.models, request.workers)
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

serve()
