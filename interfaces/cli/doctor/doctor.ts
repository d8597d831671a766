import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { maskedUrl } from '../../../domain/live/masked-url.ts'
import { readSettings } from '../../../infrastructure/settings.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { examineIsolation } from '../../../infrastructure/sources/source-isolation.ts'
import { diagnoseSource } from '../../../infrastructure/sources/puller/diagnose.ts'
import type { Finding } from '../../../infrastructure/sources/puller/diagnose.ts'
import { examineEnvironment } from './environment-checks.ts'
import { tableOf } from '../table.ts'

export const DOCTOR_HELP = `stenolog doctor [--json]
stenolog doctor --source URL [--seconds N] [--json]

Looks at what the service needs, by the settings of the environment: Node, models, stores, execution provider, port.
With --source it pulls a URL as a live would and says step by step what it did and what is wrong.
--source URL   - reads the URL from standard input, where no list of processes shows its password
--seconds N    audio to hear, default 3
--json         the findings as JSON
Exit code 0 when all is well, 1 when something is wrong, 2 when it was asked wrongly.`

const optionsOf = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    options: { source: { type: 'string' }, seconds: { type: 'string', default: '3' }, json: { type: 'boolean', default: false } },
  }).values

const mark = (ok: boolean): string => (ok ? 'ok' : 'WRONG')

const examineSource = async (url: string, seconds: number, settings: Settings, json: boolean): Promise<number> => {
  const findings: Array<Finding> = []
  const rules = { allow: settings.audioUrlAllowCidrs ?? [], ownPort: settings.port === 0 ? null : settings.port }
  const tell = (finding: Finding): void => {
    findings.push(finding)
    if (!json) console.log(tableOf(['ms    ', 'step     ', '     ', 'what'], [[finding.after, finding.step, mark(finding.ok), finding.detail]]).split('\n')[1])
  }
  if (!json) console.log(`Pulling ${maskedUrl(url)}`)
  const isolation = await examineIsolation(settings.sourceIsolation)
  const ok = await diagnoseSource({ url, rules, isolation, seconds, tell })
  if (json) console.log(JSON.stringify({ source: maskedUrl(url), ok, findings }, null, 2))
  return ok ? 0 : 1
}

/** Resolves to the exit code. */
export const doctor = async (args: ReadonlyArray<string>): Promise<number> => {
  const { source, seconds, json } = optionsOf(args)
  const wanted = Number(seconds)
  if (!(wanted > 0 && wanted <= 600)) {
    console.error('--seconds should be a number above 0 and at most 600')
    return 2
  }
  const settings = readSettings(process.env)
  if (source === undefined) {
    const checks = await examineEnvironment(settings)
    const ok = checks.every((check) => check.ok)
    if (json) console.log(JSON.stringify({ ok, checks }, null, 2))
    else console.log(tableOf(['check', '', 'what'], checks.map((check) => [check.name, mark(check.ok), check.detail])))
    return ok ? 0 : 1
  }
  if (E.isLeft(settings)) {
    console.error(settings.left.join('\n'))
    return 2
  }
  return await examineSource(source === '-' ? (await text(process.stdin)).trim() : source, wanted, settings.right, json)
}
