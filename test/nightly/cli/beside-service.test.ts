import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { encrypt } from '../../../infrastructure/keys/envelope.ts'
import { deriveKey, loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { stenolog } from '../../support/service/command-line.ts'
import type { Client } from '../../support/service/client.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const KEYS = Number(process.env['STENOLOG_TEST_KEYS'] ?? 500_000)
const DELETES = 100

/** Adds keys that belong to nobody. The service must have ended. */
const addKeys = async (dataDirectory: string): Promise<void> => {
  const wrappingKey = deriveKey(await loadMasterKey(join(dataDirectory, 'master.key')), 'keyring')
  const database = new DatabaseSync(join(dataDirectory, 'keyring.sqlite'))
  const add = database.prepare('INSERT INTO keys(name, wrapped) VALUES (?, ?)')
  database.exec('BEGIN')
  for (let number = 0; number < KEYS; number += 1) {
    const name = `filler-${number}`
    const { iv, sealed } = encrypt(wrappingKey, name, randomBytes(32))
    add.run(name, Buffer.concat([iv, sealed]))
  }
  database.exec('COMMIT')
  database.close()
}

/** Creates, ends and deletes sessions, one after another. Returns the refused deletions and the 99th percentile. */
const deleteSessions = async (client: Client) => {
  const times: Array<number> = []
  let refused = 0
  for (let number = 0; number < DELETES; number += 1) {
    const { id } = await client.createLive()
    await client.put(`/lives/${id}/finish`)
    const begun = performance.now()
    const { status } = await client.request('DELETE', `/lives/${id}`)
    times.push(performance.now() - begun)
    if (status !== 200) refused += 1
  }
  return { refused, p99: times.toSorted((a, b) => a - b)[Math.ceil(0.99 * DELETES) - 1] ?? 0 }
}

test(`beside check, backup, export and doctor every deletion succeeds in time, with ${KEYS} keys`, async (t) => {
  t.timeout(1_800_000)
  const service = await startTestService(t)
  const ada = await service.user('ada')
  const { id: exported } = await ada.createLive()
  await service.kill('SIGTERM')
  await addKeys(service.dataDirectory)
  await service.start()
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const client = await service.logIn('ada')
  await deleteSessions(client)
  const alone = await deleteSessions(client)

  const settings = { PORT: new URL(service.url()).port, HOST: '127.0.0.1' }
  const commands = { haveEnded: false }
  const run = async (): Promise<void> => {
    for (const line of ['check', `backup ${join(path, 'backup')}`, `export ${exported}`, 'doctor']) {
      const { code, stdout, stderr } = await stenolog(service.dataDirectory, line.split(' '), settings)
      // Other lines of doctor depend on the machine.
      const isRight = line === 'doctor' ? /^port +ok /m.test(stdout) : code === 0
      t.true(isRight, `${line}: ${stdout}${stderr}`.slice(0, 2000))
    }
  }
  const running = run().finally(() => {
    commands.haveEnded = true
  })
  const beside: Array<Awaited<ReturnType<typeof deleteSessions>>> = []
  do beside.push(await deleteSessions(client))
  while (!commands.haveEnded)
  await running
  t.log(`p99 alone ${alone.p99.toFixed(1)} ms, beside the commands`, beside.map(({ p99 }) => p99.toFixed(1)).join(', '))
  t.deepEqual([alone, ...beside].map(({ refused }) => refused), [alone, ...beside].map(() => 0))
  for (const { p99 } of beside) t.true(p99 <= 3 * alone.p99, `${p99} > 3 × ${alone.p99}`)
})
