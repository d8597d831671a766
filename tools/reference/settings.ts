import { SETTINGS_TABLE, type SettingName } from '../../infrastructure/settings/table.ts'
import { code, page, table } from './markdown.ts'

const GROUPS = [
  'Address and storage',
  'First administrator',
  'Models and capacity',
  'Network and proxies',
  'Sessions and text',
  'Audio URLs',
  'Servers',
  'Other',
] as const
type Group = (typeof GROUPS)[number]

/** The section of each setting. A setting without a section is a type error. */
const GROUP_OF: Readonly<Record<SettingName, Group>> = {
  HOST: 'Address and storage', PORT: 'Address and storage', DATA_DIR: 'Address and storage',
  MASTER_KEY_FILE: 'Address and storage',
  ADMIN_USERNAME: 'First administrator', ADMIN_PASSWORD: 'First administrator',
  ADMIN_PASSWORD_FILE: 'First administrator',
  VRAM_MB: 'Models and capacity', OVERCOMMIT: 'Models and capacity', MODELS_DIR: 'Models and capacity',
  HUB_URL: 'Models and capacity',
  PUBLIC_URL: 'Network and proxies', BASE_PATH: 'Network and proxies', ALLOWED_HOSTS: 'Network and proxies',
  TRUSTED_PROXIES: 'Network and proxies', CORS_ORIGINS: 'Network and proxies', WS_ORIGINS: 'Network and proxies',
  FRAME_ANCESTORS: 'Network and proxies', RATE_LIMIT: 'Network and proxies', DAILY_BUDGET: 'Network and proxies',
  AUDIO_URL_ALLOW_CIDRS: 'Audio URLs', SOURCE_ISOLATION: 'Audio URLs',
  JWT_TTL: 'Sessions and text', PENDING_TIMEOUT: 'Sessions and text', MAX_DURATION: 'Sessions and text',
  IDLE_TIMEOUT: 'Sessions and text',
  RETENTION_MAX: 'Sessions and text', DRAIN_TIMEOUT: 'Sessions and text', RECONNECT_GRACE: 'Sessions and text',
  EVENTSTORE_URL: 'Servers', MONGO_URL: 'Servers', ROLE: 'Servers', NODE_NAME: 'Servers', LEASE_TTL: 'Servers',
  INTERNAL_HOST: 'Servers', INTERNAL_PORT: 'Servers', INTERNAL_URL: 'Servers', TAKEOVER_GRACE: 'Servers',
  STREAM_PREFIX: 'Servers',
  METRICS_TOKEN: 'Other', COMPAT_STRICT: 'Other', LOG_LEVEL: 'Other',
}

const ROWS = Object.entries(SETTINGS_TABLE).map(([name, { defaultText, meaning, secret }]) =>
  ({
    group: GROUP_OF[name as SettingName],
    cells: [code(name), defaultText, `${meaning}${secret ? ' (secret)' : ''}`],
  }))

export const settingsPage = (): string =>
  page(
    'Settings',
    'Settings are environment variables with the prefix `STENOLOG_`: `STENOLOG_PORT=9000 npm start`. Durations look '
      + 'like `30s`, `60m` or `24h`. Commas separate the items of a list. The service does not start with an unknown '
      + 'name or a wrong value; it reports all errors at once.',
    ...GROUPS.flatMap((group) => [
      `## ${group}`,
      table(['Name', 'Default', 'Meaning'], ROWS.filter((row) => row.group === group).map(({ cells }) => cells)),
    ]),
    'Related: [production checklist](../operate/production.md) · [reverse proxy](../operate/reverse-proxy.md) · '
      + '[session settings](session-settings.md)',
  )
