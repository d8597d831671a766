import test from 'ava'
import { ERROR_PROBES } from '../../../support/black-box/error-probes.ts'
import { isLight } from '../../../support/black-box/probe.ts'
import { startSubject, type Subject } from '../../../support/black-box/subject.ts'

let shared: Promise<Subject> | undefined
test.after.always(async () => (await shared)?.stop())

for (const { name, run } of ERROR_PROBES.filter(isLight))
  test(name, async (t) => {
    t.timeout(180_000)
    await run(await (shared ??= startSubject(process.cwd(), {})))
    t.pass()
  })
