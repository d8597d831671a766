import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { openWriter } from '../../../infrastructure/sqlite/writer.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const open = async (directory: string) =>
  await openWriter<string, string>(new URL('./dying-writer.ts', import.meta.url), { file: join(directory, 'file.db') })

test('each job gets its own answer, whatever other jobs fail and however many worker threads die', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const writer = await open(path)
  t.teardown(writer.close)
  const job = fc.oneof(
    { weight: 20, arbitrary: fc.uuid() },
    { weight: 2, arbitrary: fc.constant('bad') },
    { weight: 2, arbitrary: fc.constant('die') },
  )
  const turn = fc.array(job, { minLength: 1, maxLength: 80, size: 'max' })
  let deaths = 0
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
      for (const jobs of turns) {
        const outcomes = await Promise.allSettled(jobs.map((job) => writer.submit(job)))
        const dies = jobs.includes('die')
        if (dies) deaths += 1
        for (const [index, outcome] of outcomes.entries()) {
          const job = jobs[index] ?? ''
          if (outcome.status === 'rejected') t.is(job, 'bad')
          else if (E.isRight(outcome.value)) t.is(outcome.value.right, job)
          else t.true(dies, 'only a dead thread leaves jobs without an answer')
        }
      }
    }),
    { numRuns: 8 },
  )
  t.true(deaths > 0)
  t.deepEqual(await writer.submit('after'), E.right('after'))
  await writer.close()
  t.deepEqual(await writer.submit('closed'), E.left('the store is closed'))
})

test('close finishes the submitted jobs', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const writer = await open(path)
  t.teardown(writer.close)
  const jobs = Array.from({ length: 200 }, (_, n) => String(n))
  const answers = jobs.map((job) => writer.submit(job))
  await writer.close()
  t.deepEqual(await Promise.all(answers), jobs.map((job) => E.right(job)))
})
