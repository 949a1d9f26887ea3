#!/bin/sh
cp /solution/@FILE@ /app/@FILE@
