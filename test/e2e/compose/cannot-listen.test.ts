import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import test from 'ava'
import { startService } from '../../../interfaces/compose.ts'
import { readSettings } from '../../../infrastructure/settings/settings.ts'
import { right } from '../../support/tools/right.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync('/proc').map(Number).filter((id) => {
    try {
      return (
        Number.isInteger(id) &&
        readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === String(pid)
      )
    } catch {
      return false
    }
  })

test.serial(
  'a service that cannot listen leaves no process behind, and its data directory is free for the next start',
  async (t) => {
    const directory = await temporaryDirectory()
    t.teardown(directory.remove)
    const occupant = createServer().listen(0, '127.0.0.1')
    t.teardown(() => occupant.close())
    await once(occupant, 'listening')
    const { port } = occupant.address() as AddressInfo
    const settingsAt = (servicePort: number) =>
      right(
        readSettings({
          STENOLOG_DATA_DIR: directory.path,
          STENOLOG_HOST: '127.0.0.1',
          STENOLOG_PORT: String(servicePort),
          STENOLOG_LOG_LEVEL: 'silent',
        }),
      )
    const before = childrenOf(process.pid)
    await t.throwsAsync(startService(settingsAt(port), t.fail), { code: 'EADDRINUSE' })
    t.deepEqual(childrenOf(process.pid), before)
    const service = await startService(settingsAt(0), t.fail)
    t.true(childrenOf(process.pid).length > before.length)
    await service.stop()
    t.deepEqual(childrenOf(process.pid), before)
  },
)
