import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { DELETIONS_FILE, repeatErasures } from '../../../../../interfaces/compose/restoring/deletions.ts'

test('users and sessions in the list are deleted again; those with unreadable data stay in the list', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-erase-again-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, DELETIONS_FILE)
  await writeFile(file, JSON.stringify(['user-1', 'user-2', 'live-3', 'text-3', 'live-4']))
  let damaged: ReadonlyArray<string> = ['user-2', 'live-4']
  const done: string[] = []
  const deleting = (kind: string) => async (id: number) => {
    done.push(`${kind}-${id}`)
    return damaged.includes(`${kind}-${id}`)
      ? E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' } as const)
      : E.right(undefined)
  }
  const deps = {
    whenReadModelsAreComplete: async () => {
      // Deletions find the sessions of a user in the read models.
      await setImmediate()
      done.push('complete')
    },
    deleteUserAgain: deleting('user'),
    deleteLiveAgain: deleting('live'),
  }
  await repeatErasures(directory, deps)
  t.deepEqual(done, ['complete', 'user-1', 'user-2', 'live-3', 'live-4'])
  t.deepEqual(JSON.parse(await readFile(file, 'utf8')), ['user-2', 'live-4'])
  damaged = []
  await repeatErasures(directory, deps)
  t.deepEqual(done.slice(5), ['complete', 'user-2', 'live-4'])
  await t.throwsAsync(readFile(file), { code: 'ENOENT' })
})
