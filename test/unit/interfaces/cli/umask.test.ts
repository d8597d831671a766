import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const INTERFACES = join(import.meta.dirname, '..', '..', '..', '..', 'interfaces')

test('every command makes its files private', async (t) => {
  const shown = "data:text/javascript,process.on('exit', () => console.error(process.umask()))"
  const main = join(INTERFACES, 'cli', 'main.ts')
  const command = ['-c', 'umask 022 && exec "$@"', 'sh', process.execPath, '--import', shown, main, '--help']
  const { stderr } = await promisify(execFile)('sh', command)
  t.is(Number(stderr), 0o077)
})

test('a file that the user asked for keeps to the umask of the user, and other files are private', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const script = `import { writeFileSync } from 'node:fs'
    import { writeUsersFile } from ${JSON.stringify(join(INTERFACES, 'umask.ts'))}
    writeUsersFile('talk.srt', 'Good morning')
    writeFileSync('other', '')`
  const command = ['-c', 'umask 026 && exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script]
  await promisify(execFile)('sh', command, { cwd: path })
  const modeOf = async (name: string): Promise<number> => (await stat(join(path, name))).mode & 0o777
  t.deepEqual([await modeOf('talk.srt'), await modeOf('other')], [0o640, 0o600])
})
