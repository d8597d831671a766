import { workerData } from 'node:worker_threads'
import { openForWriting } from '../../../infrastructure/sqlite/database.ts'
import { serveGroupCommit } from '../../../infrastructure/sqlite/group-commit.ts'

/** The worker of a writer. It answers each job with the job itself, refuses `bad` and exits on `die`. */
const { file } = workerData as { readonly file: string }

serveGroupCommit<string, string>({
  database: openForWriting(file, { synchronous: 'NORMAL' }),
  apply: (job) => {
    if (job === 'die') process.exit(1)
    if (job === 'bad') throw new TypeError('bad')
    return job
  },
})
