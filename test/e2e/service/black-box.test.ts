import test from 'ava'
import { ABUSE } from '../../support/black-box/abuse-probes.ts'
import { MANNERS } from '../../support/black-box/error-probes.ts'
import type { Probe } from '../../support/black-box/probe.ts'
import { startSubject } from '../../support/black-box/subject.ts'
import type { Subject } from '../../support/black-box/subject.ts'

const isLight = ({ isHeavy = false }: Probe): boolean => !isHeavy
/** Good manners cost a service nothing: it can be asked for the next. */
const isOfAll = ({ settings, withAdmin }: Probe): boolean => settings === undefined && withAdmin === undefined

for (const { name, settings = {}, run, ...options } of [...ABUSE, ...MANNERS.filter((probe) => !isOfAll(probe))].filter(
  isLight,
))
  test(name, async (t) => {
    t.timeout(180_000)
    const subject = await startSubject(process.cwd(), settings, options)
    t.teardown(subject.stop)
    await run(subject)
    t.pass()
  })

let ofAll: Promise<Subject> | undefined
test.after.always(async () => (await ofAll)?.stop())

for (const { name, run } of MANNERS.filter(isLight).filter(isOfAll))
  test(name, async (t) => {
    t.timeout(180_000)
    await run(await (ofAll ??= startSubject(process.cwd(), {})))
    t.pass()
  })
