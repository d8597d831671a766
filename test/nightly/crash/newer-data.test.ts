import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch } from '../../support/service/launch.ts'
import { startTestService } from '../../support/service/service.ts'

test('a service on data of a newer version stops with one message and changes nothing', async (t) => {
  const { kill, dataDirectory: path } = await startTestService(t)
  await kill()
  const database = new DatabaseSync(join(path, 'events.sqlite'), { timeout: 5000 })
  database.exec(`PRAGMA user_version = ${FORMAT + 1}`)
  database.close()
  const before = await readFile(join(path, 'events.sqlite'))
  const second = launch(t, { STENOLOG_DATA_DIR: path, STENOLOG_PORT: '0' })
  t.is(await second.exited, 1)
  t.regex(
    second.stderr(),
    /^error: Stenolog cannot start: .*events\.sqlite was written by a newer version of Stenolog .*\n$/,
  )
  t.is(second.stdout(), '')
  t.deepEqual(await readFile(join(path, 'events.sqlite')), before)
  const checked = await stenolog(path, ['check'])
  t.is(checked.code, 1)
  t.regex(checked.stdout, /newer version/)
})
