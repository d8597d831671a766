import { text } from 'node:stream/consumers'
import { maskedUrl } from '../../../domain/live/masked-url.ts'
import { readSettings, type Settings } from '../../../infrastructure/settings/settings.ts'
import { examineIsolation } from '../../../infrastructure/sources/source-isolation.ts'
import { diagnoseSource, type Finding } from '../../../infrastructure/sources/puller/diagnose.ts'
import { DOCTOR } from '../commands/streaming.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { toolSettings } from '../tool-settings.ts'
import { examineEnvironment } from './environment-checks.ts'
import { tableOf } from '../table.ts'

const mark = (ok: boolean | null): string => (ok === null ? 'unknown' : ok ? 'ok' : 'WRONG')

const examineSource = async (url: string, seconds: number, settings: Settings, json: boolean): Promise<number> => {
  const findings: Array<Finding> = []
  const rules = { allow: settings.audioUrlAllowCidrs ?? [], ownPort: settings.port === 0 ? null : settings.port }
  const report = (finding: Finding): void => {
    findings.push(finding)
    if (json) return
    const { after, step, ok, detail } = finding
    const table = tableOf(['ms    ', 'step     ', '     ', 'result'], [[after, step, mark(ok), detail]])
    const [heading, line] = table.split('\n')
    if (findings.length === 1) console.log(heading)
    console.log(line)
  }
  if (!json) console.log(`Pulling ${maskedUrl(url)}`)
  const isolation = await examineIsolation(settings.sourceIsolation)
  const ok = await diagnoseSource({ url, rules, isolation, seconds, report })
  if (json) console.log(JSON.stringify({ source: maskedUrl(url), ok, findings }, null, 2))
  return ok ? 0 : 1
}

/** Runs `stenolog doctor`. Resolves to the exit code: 1 when it finds a problem, or cannot tell. */
export const doctor = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options: { source, seconds, json } } = readArguments(DOCTOR, args)
  const settings = readSettings(process.env)
  if (source === undefined) {
    const checks = await examineEnvironment(settings)
    const ok = checks.every((check) => check.ok === true)
    if (json) console.log(JSON.stringify({ ok, checks }, null, 2))
    else
      console.log(tableOf(['check', '', 'result'], checks.map((check) => [check.name, mark(check.ok), check.detail])))
    return ok ? 0 : 1
  }
  const url = source === '-' ? (await text(process.stdin)).trim() : source
  return await examineSource(url, Number(seconds), toolSettings(), json)
}
