import { CHROMIUM } from '../../support/browser/browser.ts'
import { sharedConsole } from '../../support/browser/console.ts'
import { transcribeVoice, launchWithMicrophone } from '../../support/browser/microphone.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const { start, closing } = sharedConsole()

testWith(CHROMIUM)(
  'a voice at 44.1 kHz is resampled and transcribed correctly',
  async (t) => {
    await transcribeVoice(t, start, await launchWithMicrophone(44_100, closing))
  },
)
