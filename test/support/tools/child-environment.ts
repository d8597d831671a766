import { inheritedVariables } from '../../../infrastructure/node/inherited-variables.ts'

/** What a process of ours gets of a test's environment beside its settings: half of a start goes into compiling what was compiled before. */
export const CHILD_ENVIRONMENT = inheritedVariables(['PATH', 'NODE_COMPILE_CACHE'])
