import test from 'ava'
import { ABUSE } from '../black-box/abuse.ts'
import { MANNERS } from '../black-box/manners.ts'
import { startSubject } from '../black-box/subject.ts'

for (const { name, settings = {}, run, ...options } of [...ABUSE, ...MANNERS].filter(({ isHeavy = false }) => isHeavy))
  test(name, async (t) => {
    t.timeout(600_000)
    const subject = await startSubject(process.cwd(), settings, options)
    t.teardown(subject.stop)
    await run(subject)
    t.pass()
  })
