import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { createClient, type Listing, type Single } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const wrappedKeys = (file: string, names: ReadonlyArray<string>): ReadonlyArray<Buffer> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const find = database.prepare('SELECT wrapped FROM keys WHERE name = ?')
  const rows = names.flatMap((name) => (find.get(name) as { readonly wrapped: Uint8Array } | undefined) ?? [])
  database.close()
  return rows.map(({ wrapped }) => Buffer.from(wrapped))
}

/** Counts how often the files of a directory contain a secret as raw bytes, in base64 or as hexadecimal digits. */
const countSecrets = async (directory: string, secrets: ReadonlyArray<Buffer>): Promise<number> => {
  let hits = 0
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const content = await readFile(join(entry.parentPath, entry.name))
    for (const secret of secrets)
      for (const form of [
        secret,
        Buffer.from(secret.toString('base64').replace(/=+$/, '')),
        Buffer.from(secret.toString('hex')),
      ])
        if (content.includes(form)) hits += 1
  }
  return hits
}

test('a deleted user leaves no key and no text in any file, also after a restore of an older backup', async (t) => {
  const service = await startTestService(t)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const backup = join(path, 'backup')
  const run = (...args: ReadonlyArray<string>) => stenolog(service.dataDirectory, args)
  const ada = await service.user('ada lovelace', { permissions: ['user_retention'] })
  const token = (await ada.post<Single<{ readonly token: string }>>('/tokens/', { name: 'of the mill' })).body.data
    .token
  const live = await ada.createLive({ live_retention: true })
  const sender = await ada.socket(live, 'sender')
  sender.send({ type: 'config' })
  const [sentence] = await sampleSentences()
  sender.sendAudio(sentence?.samples ?? silence(0))
  sender.sendAudio(silence(1))
  await sender.frame((frame) => frame['final'] === true)
  sender.send({ type: 'FINISH' })
  await sender.closed
  const open = await ada.createLive()
  const listener = await ada.socket(open, 'listener')

  const exported = await run('users', 'export', 'ada lovelace')
  t.is(exported.code, 0, exported.stderr)
  const all = JSON.parse(exported.stdout) as {
    readonly lives: ReadonlyArray<{ readonly segments: ReadonlyArray<{ readonly text: string }> }>
    readonly profiles: ReadonlyArray<object>
  }
  t.like(all, {
    user: { userId: 2, username: 'ada lovelace', permissions: ['user_retention'] },
    tokens: [{ name: 'of the mill', isRevoked: false }],
  })
  t.is(all.lives.length, 2)
  t.is(all.profiles.length, 1)
  const text = all.lives[0]?.segments[0]?.text ?? ''
  t.true(text.length > 10)
  for (const secret of [token, live.sender_token, open.sender_token, '$argon2'])
    t.false(exported.stdout.includes(secret))
  t.is((await run('users', 'export', 'nobody')).code, 1)

  t.is((await run('backup', backup)).code, 0)
  const keys = wrappedKeys(join(service.dataDirectory, 'keyring.sqlite'), ['user-2', 'live-1', 'text-1', 'live-2'])
  t.is(keys.length, 4)
  const secrets = [...keys, Buffer.from(text), Buffer.from('ada lovelace'), Buffer.from('of the mill')]
  t.true((await countSecrets(service.dataDirectory, keys)) >= 1, 'the search finds the keys before the deletion')

  const deleted = await run('users', 'delete', 'ada lovelace')
  t.is(deleted.code, 0, deleted.stderr)
  t.is((await listener.closed).code, 4401)
  const withKey = createClient(service.url(), token)
  const assertGone = async (): Promise<void> => {
    const admin = await service.admin()
    t.is((await admin.get<Listing<object>>('/users/')).body.pagination.total_items, 1)
    t.is((await admin.get<Listing<object>>('/admin/lives')).body.pagination.total_items, 0)
    t.is((await admin.request('DELETE', '/users/2')).status, 404)
    t.like(await admin.request('DELETE', '/users/1'), {
      status: 400,
      body: { detail: 'The last administrator cannot be deleted' },
    })
    t.is((await run('users', 'export', 'ada lovelace')).code, 1)
    t.is(await countSecrets(service.dataDirectory, secrets), 0)
    const checked = await run('check')
    t.is(checked.code, 0, checked.stdout)
  }
  t.is((await ada.get('/users/me')).status, 401)
  t.is((await withKey.get('/lives/')).status, 401)
  await assertGone()

  await service.kill('SIGTERM')
  const restored = await run('restore', backup, '--replace')
  t.regex(restored.stdout, /^4 keys that were erased after the backup were erased again$/m)
  // The restore itself must erase the keys, before a service starts.
  t.is(await countSecrets(service.dataDirectory, secrets), 0)
  await service.start()
  await assertGone()
  t.is((await createClient(service.url(), token).get('/lives/')).status, 401)

  const again = await service.user('ada lovelace')
  t.like((await again.get<Single<{ readonly id: number }>>('/users/me')).body.data, { id: 3 })
})
