import { parentPort, workerData } from 'node:worker_threads'
import type { BacklogAnswer, BacklogRequest } from './backlog-reader.ts'
import { openForReading } from '../database.ts'
import { createWindowReader } from './event-window.ts'

const { file } = workerData as { readonly file: string }
const read = createWindowReader(openForReading(file))

parentPort?.on('message', ([id, ...window]: BacklogRequest) => {
  try {
    parentPort?.postMessage([id, read(...window)] satisfies BacklogAnswer)
  } catch {
    // The caller then reads for itself and gets the error.
    parentPort?.postMessage([id, null] satisfies BacklogAnswer)
  }
})
