"""Post-processing of detections: the boxes of every image are brought to the host one image after the other."""
import torch

from models import conv_net
from workload import FIXED, steps

IMAGES, SIZE = 128, 256


def keep_boxes(scores, boxes):
    kept = []
    for score, box in zip(scores, boxes):
        kept.append(box[score > 0.5].cpu())  # FAULT
    return kept


def keep_boxes_together(scores, boxes):
    keep = scores > 0.5
    return boxes[keep].cpu().split(keep.sum(dim=1).tolist())


def main():
    model = conv_net(256, 3, classes=100)
    batches = [torch.randn(IMAGES, 3, SIZE, SIZE, device="cuda").to(torch.bfloat16, memory_format=torch.channels_last)
               for _ in range(4)]
    boxes = torch.rand(IMAGES, 100, 4, device="cuda")
    model.eval()
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            scores = model(batches[step % len(batches)]).sigmoid()
            (keep_boxes_together if FIXED else keep_boxes)(scores, boxes)


if __name__ == "__main__":
    main()
