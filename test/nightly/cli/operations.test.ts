import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { logIn } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { passwordOf, startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Replaces values that differ between runs with placeholders. */
const normalised = (line: string): string =>
  line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, 'TIME')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/instance:[0-9a-f]{8}/g, 'instance:ID')
    .replaceAll(/(TokenHash=)\S+/g, '$1HASH')
    .replaceAll(/"text": ".*"/g, '"text": WORDS')
    .replaceAll(/("start"|"end"): [\d.]+/g, '$1: SECONDS')
    .replaceAll(/\d+ (rows|keys|events)/g, 'N $1')
    .replaceAll(/position \d+/g, 'position N')
    .replaceAll(/in \d+\.\d s/g, 'in N s')

/** Compares lines. The expected line `…` matches any number of lines. */
const matchLines = (expected: ReadonlyArray<string>, lines: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = expected
  if (first === undefined) return lines.length === 0
  if (first === '…')
    return Array.from({ length: lines.length + 1 }).some((_, skipped) => matchLines(rest, lines.slice(skipped)))
  return lines[0] === first && matchLines(rest, lines.slice(1))
}

/** A command that only reads may not see the newest data yet, so the test repeats it until its output matches. */
const isReadOnly = ([command = '', verb]: ReadonlyArray<string>): boolean =>
  ['check', 'replay', 'export'].includes(command) || verb === 'export'

const linesOf = (text: string): ReadonlyArray<string> => text.trimEnd().split('\n').map(normalised)

/** The order matters, because a page uses the data that the examples of earlier pages leave. */
const PAGES = [
  'guides/audit-a-session', 'operate/backup-and-restore', 'operate/check-and-repair', 'guides/transcripts-and-privacy',
]

test('docs: every command line example prints the documented output on a real service', async (t) => {
  const service = await startTestService(t)
  const elsewhere = await temporaryDirectory()
  t.teardown(elsewhere.remove)
  const backup = join(elsewhere.path, 'backup')
  const database = (file: string) => new DatabaseSync(join(service.dataDirectory, file), { timeout: 5000 })
  const change = (file: string, sql: string): void => {
    const opened = database(file)
    opened.exec(sql)
    opened.close()
  }

  /** Actions that the pages request between two examples, with a comment such as `<!-- test: start -->`. */
  const actions: Readonly<Record<string, () => Promise<void> | void>> = {
    start: async () => {
      const ada = await service.user('ada', { permissions: ['user_retention'] })
      const live = await ada.createLive({ live_retention: true })
      const sender = await ada.socket(live, 'sender')
      sender.send({ type: 'config' })
      const [sentence] = await sampleSentences()
      sender.sendAudio(sentence?.samples ?? silence(0))
      sender.sendAudio(silence(1))
      await sender.frame((frame) => frame['final'] === true)
      sender.send({ type: 'FINISH' })
      await sender.closed
      await ada.createLive()
    },
    limit: async () => {
      t.is((await (await service.admin()).put('/users/2', { max_sessions: 3 })).status, 200)
    },
    // Runs after the page has restored the backup.
    again: async () => {
      await service.start()
      const ada = await logIn(service.url(), 'ada', passwordOf('ada'))
      await eventually(async () => assert.equal((await ada.get('/health/ready')).status, 200))
      t.like((await ada.get('/lives/1')).body, { data: { id: 1, status: 'finished' } })
    },
    edit: () =>
      change(
        'documents.sqlite',
        `UPDATE documents_lives SET body = replace(body, '"finished"', '"active"') WHERE id = '1'`,
      ),
    stop: async () => {
      t.is(await service.kill('SIGTERM'), 0)
    },
    damage: () => {
      const row = `(SELECT pos FROM events e JOIN streams s USING (sid) WHERE s.name = 'live-1' ORDER BY rev LIMIT 1)`
      change('events.sqlite', `UPDATE events SET data = replace(data, '"raw"', '"rax"') WHERE pos = ${row}`)
    },
  }

  const page = (await Promise.all(PAGES.map((name) => readFile(`docs/${name}.md`, 'utf8')))).join('\n')
  let commands = 0
  for (const [, action, block] of page.matchAll(/<!-- test: (\w+) -->|```console\n([^]*?)```/g)) {
    if (action !== undefined) await actions[action]?.()
    for (const example of (block ?? '').split(/^\$ /m).slice(1)) {
      const [command = '', ...expected] = example.trimEnd().split('\n')
      const args = command.split(' ').slice(1).map((word) => word.replace('/srv/backup', backup))
      const isFailure = /^error: |WRONG|cannot be read/m.test(example)
      const runExample = async (): Promise<void> => {
        const run = await stenolog(service.dataDirectory, args)
        assert.equal(run.code, isFailure ? 1 : 0, `${command}: ${run.stdout}${run.stderr}`)
        const printed = (isFailure ? run.stdout + run.stderr : run.stdout)
          .replaceAll(backup, '/srv/backup')
          .replaceAll(service.dataDirectory, '/srv/data')
        assert.ok(matchLines(expected.map(normalised), linesOf(printed)), `$ ${command}\n${printed}`)
      }
      await t.notThrowsAsync(isFailure || isReadOnly(args) ? eventually(runExample) : runExample())
      commands += 1
    }
  }
  t.true(commands >= 17, 'the pages contain the examples')

  await mkdir(join(elsewhere.path, 'empty'))
  const onEmptyFolder = await stenolog(join(elsewhere.path, 'empty'), ['check'])
  t.is(onEmptyFolder.code, 1)
  t.regex(onEmptyFolder.stderr, /There is no data of a service in /)
})
