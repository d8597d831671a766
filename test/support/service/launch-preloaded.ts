import type { ExecutionContext } from 'ava'
import { launch, type Launched } from './launch.ts'
import { ADMIN } from './service.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** Starts the service on an empty data directory. Each of its threads first loads `code`, an ES module. */
export const launchPreloaded = async (
  t: ExecutionContext,
  code: string,
): Promise<{ readonly service: Launched; readonly dataDirectory: string }> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const service = launch(t, {
    STENOLOG_PORT: '0',
    STENOLOG_DATA_DIR: path,
    STENOLOG_ADMIN_USERNAME: ADMIN.username,
    STENOLOG_ADMIN_PASSWORD: ADMIN.password,
    STENOLOG_DRAIN_TIMEOUT: '0s',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  })
  return { service, dataDirectory: path }
}
