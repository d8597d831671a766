import { SETTING_TEXTS } from '../../interfaces/http/codecs/setting-texts.ts'

/**
 * Meanings of members of objects, for the reference. `Object.member` wins over `member`. Members whose name says their
 * meaning have no entry.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  active: 'true: new sessions can use it',
  actor: 'who caused the event: `user:7`, `operator` (the command line), `service`, or the process `instance:…`',
  at: 'time of the event',
  audio_seconds: 'seconds of audio that the session received',
  wrong_samples: 'what the samples of the sender seem to be: `float32` or `big_endian`. Null if they are the wanted '
    + '16-bit little-endian ones, if this is not certain, or if another process runs the session',
  auto_start_pid: 'id of the operating system process that pulls the audio URL; null before the start',
  base_url: 'beginning of the WebSocket address; empty if the service does not know its own address',
  bytes: 'size of the files; null if it is not installed',
  causation_id: 'id of the command that caused the event',
  checked_at: 'time of the check',
  correlation_id: '`X-Request-ID` of the request that led to the event; background tasks have their own ids',
  current_page: 'number of this page, from 1',
  damaged: 'entries of the history that are damaged',
  'DamagedEntry.id': 'number of the entry; 0 stands for the whole history, or for the text of the session',
  checks: 'state of each part of the service: [monitor](../operate/monitor.md#healthready)',
  confidence: 'how certain the model is, from 0 to 1',
  entries: 'number of entries in the history',
  entry: 'the event',
  first_position: 'position of the first entry in the whole event log',
  head_hash: 'hash of the last entry, which includes the hashes of all earlier entries; SHA-256 in hexadecimal',
  iframe_html: 'HTML that embeds the captions in a page; null if the session has no display members',
  installed: 'true: its files are on this machine',
  'Issue.loc': 'path of the wrong member, such as `["body", "model"]`',
  'Issue.msg': 'what is wrong',
  'Issue.type': 'kind of the problem, such as `missing`',
  'Job.actor': 'administrator who started the job, such as `user:1`',
  'Job.detail': 'current step, or the reason of a failure',
  'Job.done': 'completed part of the work, in `unit`',
  'Job.process': 'name of the process that runs the job',
  'Job.result': 'result of the job; null while it runs',
  'Job.subject': 'name of the model or list; null stands for all',
  'Job.updated_at': 'time of the last change',
  'Job.total': 'whole work, in `unit`; null while it is unknown',
  lag: 'delay of the text after the audio, in seconds; null if the session does not run in this process',
  lag_max: 'longest delay of text in each sample, in seconds',
  lag_p95: '95th percentile of the delays in each sample, in seconds',
  lang_from: 'spoken language',
  lang_to: 'language of the translation',
  languages: 'codes of the languages',
  last_position: 'position of the last entry in the whole event log',
  listener_token: 'secret that lets people read the captions',
  listeners: 'number of connected listeners',
  'LiveActivity.segments': 'number of stored final segments, without translations',
  'LiveIntegrity.status': '`unavailable`: the event store keeps no hashes (EventStoreDB)',
  'Load.listeners': 'connected listeners in each sample',
  'Load.sessions': 'open sessions in each sample',
  'Load.since': 'time of the first sample; null without samples',
  'Load.step': 'seconds between two samples',
  'Load.vram_reserved': 'reserved memory in each sample, in megabytes',
  loads: 'true: the last attempt to load the model succeeded; null: the service has not tried since its start',
  measured: 'true: `vram` was measured; false: it is estimated',
  open_lives: 'number of open sessions that use it',
  open_sessions: 'number of your open sessions',
  per_page: 'maximum number of items of a page',
  precision: 'number format of the weights: `int8`, `fp16` or `fp32`; null if it is unknown',
  relative_path: 'rest of the WebSocket address; append `?token=…`',
  sender_token: 'secret that lets a program send audio',
  ships: 'true: it is part of Stenolog and cannot be removed',
  source: 'where its files come from; null if it is unknown',
  state: 'the session after this event',
  text_until: 'time from which the text cannot be read; null if that time is unknown, or if the text stays',
  token: 'the secret; the service never shows it again',
  token_prefix: 'first characters of the secret, to recognise it',
  total_items: 'number of items on all pages',
  total_pages: 'number of pages',
  updated_at: 'null until the first change',
  vram: 'memory in megabytes',
  'LiveSession.vram': 'reserved memory in megabytes; 0 after the end',
  'AdminLiveSession.vram': 'reserved memory in megabytes; 0 after the end',
  vram_free: 'memory for further sessions, in megabytes',
  vram_reserved: 'memory that open sessions have reserved, in megabytes',
  vram_total: 'memory that sessions can reserve, in megabytes',
  'Word.text': 'the word with its punctuation and the space before it',
  'Word.start': 'seconds from the beginning of the audio',
  'Word.end': 'seconds from the beginning of the audio',
  'TranscriptSegment.start': 'seconds from the beginning of the audio',
  'TranscriptSegment.end': 'seconds from the beginning of the audio',
  'TranscriptSegment.damaged':
    'true: the stored segment cannot be read. Its text is empty, and its times are those of the gap',
}

const OBJECTS_WITH_SETTINGS: ReadonlySet<string> = new Set(['EngineSettings', 'Profile'])

const settingMeaning = (object: string, member: string): string => {
  const texts: Readonly<Record<string, { readonly meaning: string }>> = SETTING_TEXTS
  return OBJECTS_WITH_SETTINGS.has(object) ? texts[member]?.meaning ?? '' : ''
}

/** Returns the meaning of a member, or an empty text when the name already says it. */
export const meaningOf = (object: string, member: string): string =>
  MEANINGS[`${object}.${member}`] ?? MEANINGS[member] ?? settingMeaning(object, member)
