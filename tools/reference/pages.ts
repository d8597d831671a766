import { cliPage } from './cli.ts'
import { eventsPage } from './events.ts'
import { metricsPage } from './metrics.ts'
import { restPage } from './rest.ts'
import { sessionSettingsPage } from './session-settings.ts'
import { settingsPage } from './settings.ts'
import { websocketPage } from './websocket.ts'

/** Returns the pages of docs/reference/ by file name. */
export const referencePages = async (): Promise<Readonly<Record<string, string>>> => ({
  'settings.md': settingsPage(),
  'session-settings.md': sessionSettingsPage(),
  'rest.md': restPage(),
  'websocket.md': websocketPage(),
  'cli.md': cliPage(),
  'metrics.md': await metricsPage(),
  'events.md': eventsPage(),
})
