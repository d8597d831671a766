export const problems = {
  unreachable: 'The service does not answer. Is it running?',
  failed: 'That did not work ({status}).',
  wait_seconds: 'Too many requests. Try again in {seconds} s.',
  unavailable: 'The service is not available at the moment. This page tries again by itself.',
  no_memory: 'There is not enough free memory: {needed} MB are needed, {free} MB are free. Choose a smaller model, or finish a session.',
  no_compute: 'This machine hears no more sessions in time. Finish one, or choose a smaller model.',
  quota: '{maximum} of {maximum} sessions are open. Finish one to start another.',
  request_id: 'Request {id}',
  fields_wrong: 'Please correct what is marked.',
} as const
