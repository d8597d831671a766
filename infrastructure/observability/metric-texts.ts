interface MetricText {
  readonly help: string
  /** When to raise an alarm, or what to do. Absent where a dashboard is enough. */
  readonly watch?: string
}

/** The texts of every metric. A metric without a text does not compile. */
export const METRIC_TEXTS = {
  stenolog_vram_reserved_megabytes: { help: 'Memory that open sessions have reserved' },
  stenolog_vram_total_megabytes: { help: 'Memory that all sessions together can reserve' },
  stenolog_engine_lanes: { help: 'Model passes that the engine runs in parallel (lanes)' },
  stenolog_engine_lanes_taken: {
    help: 'Lanes that sessions use, calculated from the measured time of passes',
    watch: 'Plan more machines when it stays near `stenolog_engine_lanes`: further sessions get 503.',
  },
  stenolog_live_lag_max_seconds: {
    help: 'Longest lag of all running sessions. The lag is the age of the oldest speech that is not transcribed',
    watch: 'Alarm when it stays above the `max_delay` of your sessions: the machine is too slow for them.',
  },
  stenolog_lives_behind: { help: 'Running sessions with a lag of more than `longer_than` seconds' },
  stenolog_audio_to_text_seconds: {
    help: 'For each pass: time from the arrival of its oldest new audio to the end of the pass',
  },
  stenolog_words_left_out_total: {
    help: 'Words that were discarded, by cause: silence; loop (the model repeated itself); rejected (bad '
      + 'scores); repeated (already transcribed in an earlier pass); unsure (a short burst of sound)',
  },
  stenolog_translations_waiting: { help: 'Final segments that wait for a translator' },
  stenolog_translation_lag_seconds: { help: 'Age of the oldest final segment that waits for a translator' },
  stenolog_translations_total: {
    help: 'Final segments that a translator received, by outcome. dropped: the session ended before the translation; '
      + 'skipped: the translator was too slow',
    watch: 'Check when `skipped` grows: the machine is too slow for the translator.',
  },
  stenolog_projection_lag_seconds: {
    help: 'Seconds by which a projection is behind the log. A projection updates one list',
    watch: 'Alarm when it grows for a minute.',
  },
  stenolog_projection_failing: {
    help: '1 while a projection retries after an error',
    watch: 'Alarm after a minute. The log names the error: `projection failed, retrying`.',
  },
  stenolog_projection_failures_total: { help: 'Failed attempts of a projection. It retries each of them' },
  stenolog_projection_rebuilding: { help: '1 while a read model is rebuilt' },
  stenolog_read_your_writes_timeouts_total: { help: 'Writes whose answer was sent before the lists showed them' },
  stenolog_finals_dropped_total: {
    help: 'Final segments that were sent to listeners but not stored: the store refused them, or too many waited for '
      + 'an unavailable store',
    watch: 'Alarm when it grows: these lines are missing in transcripts. The log names session and segment.',
  },
  stenolog_source_lost_seconds_total: {
    help: 'Seconds of audio from URL sources that were lost: missing segments or packets, and reconnects',
    watch: 'Check the network of the source. The log names each session that lost a second or more.',
  },
  stenolog_event_store_answers: { help: '1 while the event store answers', watch: 'Alarm when it is 0.' },
  stenolog_event_store_leader_changes_total: {
    help: 'Changes of the leader of the event store cluster; the log names the new leader',
  },
  stenolog_clock_skew_seconds: {
    help: 'Seconds by which the clock of a store is ahead of the clock of this machine (negative: behind): event_store '
      + 'or mongodb',
    watch: 'Alarm when it is above 5 or below -5: synchronise the clocks (NTP).',
  },
  stenolog_members: {
    help: 'Processes that share these stores and are not lost, by state: up, draining or stopping',
    watch: 'Alarm when fewer processes are up than you run.',
  },
  stenolog_workers: {
    help: 'Processes that accept new sessions',
    watch: 'Alarm when it is 0: creating a session answers 503.',
  },
  stenolog_members_lost_total: {
    help: 'Processes that this process counted as lost: killed, frozen, or disconnected from MongoDB',
    watch: 'Check when it grows: `a member is lost` in the log names the process.',
  },
  stenolog_leases: {
    help: 'Tasks that only one process at a time may run, by the process that runs them, as far as this process knows: '
      + 'own (this process), other (another process) or nobody',
    watch: 'Alarm when `nobody` stays above 0 for a minute: lists are not updated, or expired sessions and texts are '
      + 'not removed.',
  },
  stenolog_lives_moved: { help: 'Open sessions that another worker has taken over' },
  stenolog_lives_unplaced: {
    help: 'Open sessions for which no worker has free capacity',
    watch: 'Alarm when it is above 0: they fail after TAKEOVER_GRACE. Start a worker.',
  },
  stenolog_links_open: { help: 'Connections from this process to the workers whose sessions its clients use (links)' },
  stenolog_links_failed_total: {
    help: 'Links that broke or were not answered; each is retried',
    watch: 'Check the network between the processes when it grows without a restart.',
  },
  stenolog_source_isolation: {
    help: '1 when the decoders of URL sources are isolated from files and the network',
    watch: 'Alarm when it is 0 and you accept audio URLs.',
  },
} as const satisfies Readonly<Record<string, MetricText>>

export type MetricName = keyof typeof METRIC_TEXTS
