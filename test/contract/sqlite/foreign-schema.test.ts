import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { openForWriting } from '../../../infrastructure/sqlite/database.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

test('a view that somebody added to a file cannot use what reads outside its tables', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'file.db')
  const foreign = new DatabaseSync(file)
  foreign.exec('CREATE VIEW added AS SELECT file FROM pragma_database_list')
  t.is(foreign.prepare('SELECT * FROM added').all().length, 1)
  foreign.close()
  const database = openForWriting(file, { synchronous: 'FULL' })
  t.throws(() => database.prepare('SELECT * FROM added').all(), { message: /unsafe use/ })
  database.close()
})
