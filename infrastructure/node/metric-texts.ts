/** What a metric tells, and when somebody should look. */
interface MetricText {
  readonly help: string
  /** When to alarm, or what to do; absent where a dashboard is enough. */
  readonly watch?: string
}

/** Every metric of the service; one that is not here does not compile. */
export const METRIC_TEXTS = {
  stenolog_vram_reserved_megabytes: { help: 'Memory that open sessions have reserved' },
  stenolog_vram_total_megabytes: { help: 'Memory that sessions can reserve from' },
  stenolog_engine_lanes: { help: 'Passes that the engine runs at a time' },
  stenolog_engine_lanes_taken: {
    help: 'Lanes that sessions take, by the time that passes of their models took',
    watch: 'Plan more machines when it stays near `stenolog_engine_lanes`: further sessions get 503.',
  },
  stenolog_live_lag_max_seconds: {
    help: 'Age of the oldest speech that a running session has not transcribed; the greatest of all sessions',
    watch: 'Alarm when it stays above the `max_delay` of your sessions: the machine is too slow for them.',
  },
  stenolog_lives_behind: { help: 'Running sessions whose lag is longer than `longer_than` seconds' },
  stenolog_audio_to_text_seconds: {
    help: 'From the arrival of audio to the text of the first pass that heard it, of every pass of the engine',
  },
  stenolog_words_left_out_total: {
    help: 'Words that a model said and no text holds, by cause: silence, loop, rejected (bad scores), repeated (it was told them before), '
      + 'unsure (a short burst of sound)',
  },
  stenolog_translations_waiting: { help: 'Final segments that wait for a translator' },
  stenolog_translation_lag_seconds: { help: 'Age of the oldest final segment that waits for a translator' },
  stenolog_translations_total: {
    help: 'Final segments given to a translator, by outcome; dropped: their session ended first; skipped: the translator was too far behind',
    watch: 'Look when `skipped` grows: the translator is too slow for this machine.',
  },
  stenolog_projection_lag_seconds: {
    help: 'Time by which a projection (it fills the lists) is behind the log',
    watch: 'Alarm when it grows for a minute.',
  },
  stenolog_projection_failing: {
    help: '1 while a projection tries again after an error',
    watch: 'Alarm after a minute. The log names the error: `projection is held up and tries again`.',
  },
  stenolog_projection_failures_total: { help: 'Attempts of a projection that failed and were made again' },
  stenolog_projection_rebuilding: { help: '1 while a read model is built anew' },
  stenolog_read_your_writes_timeouts_total: { help: 'Writes answered before the lists showed them' },
  stenolog_finals_dropped_total: {
    help: 'Final segments that listeners got and that no store took: refused for good, or too many while a store was away',
    watch: 'Alarm when it grows: transcripts lack these lines. The log names session and segment.',
  },
  stenolog_source_lost_seconds_total: {
    help: 'Audio of URL sources that was lost on its way and stands as gaps: missing segments and packets, and reconnects',
    watch: 'Look at the network of the source. The log names each session that lost a second or more.',
  },
  stenolog_event_store_answers: { help: '1 while the event store answers', watch: 'Alarm when it is 0.' },
  stenolog_event_store_leader_changes_total: {
    help: 'How often another node of the event store was found to lead; the log says which',
  },
  stenolog_members: {
    help: 'Processes that share these stores and are not lost, by what they say of themselves: up, draining or stopping',
    watch: 'Alarm when fewer are up than you run.',
  },
  stenolog_workers: {
    help: 'Processes that take new sessions',
    watch: 'Alarm when it is 0: creating a session answers 503.',
  },
  stenolog_members_lost_total: {
    help: 'Processes that this one found lost: killed, frozen, or cut off from MongoDB',
    watch: 'Look when it grows: `a member is lost` in the log names the process.',
  },
  stenolog_leases: {
    help: 'Work that one process at a time does, by who has it as this process sees it: own, other or nobody',
    watch: 'Alarm when `nobody` stays above 0 for a minute: lists stand still, or nothing is ended or forgotten.',
  },
  stenolog_lives_moved: { help: 'Open sessions that a second worker, or a later one, runs' },
  stenolog_lives_unplaced: {
    help: 'Open sessions that no worker has room for',
    watch: 'Alarm when it is above 0: they fail after TAKEOVER_GRACE. Start a worker.',
  },
  stenolog_links_open: { help: 'Links of this process to workers that run the sessions of its sockets' },
  stenolog_links_failed_total: {
    help: 'Links that broke or that nobody answered; each is dialled again',
    watch: 'Look at the network between the processes when it grows without a restart.',
  },
  stenolog_source_isolation: {
    help: '1 where the decoders of URL sources can open no file and no socket',
    watch: 'Alarm when it is 0 and you accept audio URLs.',
  },
} as const satisfies Readonly<Record<string, MetricText>>

export type MetricName = keyof typeof METRIC_TEXTS
