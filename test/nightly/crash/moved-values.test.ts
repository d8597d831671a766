import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import type { Json, Listing, Single } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { assertUsable, disposeServices, stoppedService } from '../../support/service/damaged-data.ts'
import { passwordOf } from '../../support/service/service.ts'

test.after.always(disposeServices)

test('exchanged keys open nothing: no user appears under another name, and check names both keys', async (t) => {
  const { service } = await stoppedService(t)
  const keyring = new DatabaseSync(join(service.dataDirectory, 'keyring.sqlite'))
  keyring.exec(`CREATE TEMP TABLE before AS SELECT name, wrapped FROM keys WHERE name IN ('user-2', 'user-3');
    UPDATE keys SET wrapped = (SELECT wrapped FROM before WHERE before.name <> keys.name)
    WHERE name IN ('user-2', 'user-3')`)
  keyring.close()
  await service.start()
  for (const username of ['ada', 'bob'])
    t.not((await service.anonymous().form('/login', { username, password: passwordOf(username) })).status, 200)
  const admin = await service.admin()
  const names = (await admin.get<Listing<Json>>('/users/')).body.data.map(({ username }) => username)
  t.deepEqual(names.slice(1), ['[erased]', '[erased]'])
  await assertUsable(t, admin)
  const { code, stdout } = await stenolog(service.dataDirectory, ['check'], service.stores)
  t.is(code, 1)
  for (const key of ['user-2', 'user-3']) t.regex(stdout, new RegExp(key))
})

/** Copies members of the document `from` over those of the document `to`. */
const copyMembers = (database: DatabaseSync, table: string, from: string, to: string, names: ReadonlyArray<string>) => {
  const bodyOf = (id: string): Json => {
    const row = database.prepare(`SELECT body FROM "documents_${table}" WHERE id = ?`).get(id)
    return JSON.parse(String(row?.['body'])) as Json
  }
  const source = bodyOf(from)
  const copied = Object.fromEntries(names.map((name) => [name, source[name]]))
  const body = JSON.stringify({ ...bodyOf(to), ...copied })
  database.prepare(`UPDATE "documents_${table}" SET body = ? WHERE id = ?`).run(body, to)
}

test('a sealed value that was copied to another row of a list is not shown, and check names the row', async (t) => {
  const { service, live, tokenId } = await stoppedService(t)
  await service.start()
  const bob = await service.logIn('bob')
  const config = { prompt: 'only of Bob' }
  const other = await bob.createLive({ audio_format: 'hls', audio_url: 'https://radio.example/bob', config })
  await bob.post('/user-live-configs/', { name: 'profile of Bob' })
  const { body: token } = await bob.post<Single<{ readonly id: number }>>('/tokens', { name: 'token of Bob' })
  await (await service.logIn('ada')).post('/user-live-configs/', { name: 'profile of Ada' })
  await service.kill('SIGTERM')
  const documents = new DatabaseSync(join(service.dataDirectory, 'documents.sqlite'))
  copyMembers(documents, 'users', '2', '3', ['username'])
  copyMembers(documents, 'profiles', '3', '2', ['profiles'])
  const sealed = ['audioUrl', 'senderToken', 'listenerToken', 'vocabulary']
  copyMembers(documents, 'lives', String(other.id), String(live.id), sealed)
  copyMembers(documents, 'api-tokens', String(token.data.id), String(tokenId), ['name'])
  documents.close()
  await service.start()
  const [ada, admin] = [await service.logIn('ada'), await service.admin()]
  const shown = JSON.stringify([
    (await ada.get('/lives/')).body, (await ada.get(`/lives/${live.id}`)).body,
    (await ada.get('/user-live-configs/')).body, (await ada.get('/tokens')).body,
    (await admin.get<Listing<Json>>('/users/')).body.data.filter(({ id }) => id === 3),
  ])
  const names = ['radio.example', 'only of Bob', 'profile of Bob', 'token of Bob']
  for (const secret of [...names, other.sender_token, other.listener_token])
    t.false(shown.includes(secret), secret)
  t.false(shown.includes('ada'))
  await assertUsable(t, admin)
  const { code, stdout } = await stenolog(service.dataDirectory, ['check'], service.stores)
  t.is(code, 1)
  for (const row of [`lives ${live.id}`, 'users 3', 'profiles 2', `api-tokens ${tokenId}`])
    t.regex(stdout, new RegExp(`^ +${row}: does not agree with the log`, 'm'))
})
